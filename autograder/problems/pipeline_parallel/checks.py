"""Problem 5: what must hold of a pipeline: the unsplit network's values, and stages that work at the same time."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import strategies as st

from autograder.checks.check import Checks, Drawing, Judge
from autograder.problems.common.groups import subgroups
from autograder.problems.pipeline_parallel.examples import ANY_ROWS, Forward, Split, forwards
from autograder.problems.pipeline_parallel.examples_training import (
    SCHEDULES,
    Refusal,
    Train,
    refusals,
    trainings,
    uneven_batches,
)
from autograder.problems.pipeline_parallel.judge import errors, gradients, outputs
from autograder.problems.pipeline_parallel.judge_schedule import bubble, in_flight, overlap
from autograder.problems.pipeline_parallel.judge_split import split
from autograder.problems.pipeline_parallel.messages import Cost
from autograder.problems.pipeline_parallel.models import odd_models

# A step of training on several ranks takes some ten times as long as a collective.
HEAVY = 10
# On the simulated cluster alone stages take virtual time, so that idle time can be told exactly.
SIMULATED = ("sim",)
BOTH = ("sim", "real")


CHECKS = Checks("pipeline_parallel")


def _check(
    name: str, task: str, judge: Judge, backends: tuple[str, ...] = BOTH, weight: int = HEAVY
) -> Callable[[Drawing], Drawing]:
    return CHECKS.add(name, (task,), judge, backends, weight)


@_check("even", "split_layers", split, backends=("real",), weight=1)
def draw_even(task: str, world_size: int) -> st.SearchStrategy[Split]:
    """{task} gives every stage a run of layers, as even as possible"""
    pairs = [(layers, stages) for stages in range(1, 11) for layers in range(stages, 41)]
    return st.sampled_from(pairs).map(lambda pair: Split(world_size, *pair))


@_check("edges", "split_layers", split, backends=("real",), weight=1)
def draw_edges(task: str, world_size: int) -> st.SearchStrategy[Split]:
    """{task} takes fewer layers than stages, and refuses what cannot be"""
    few = [(layers, stages) for stages in range(1, 11) for layers in range(stages)]
    pairs = [*few, (4, 0), (0, 0), (4, -1), (-1, 1), (-1, 3)]
    return st.sampled_from(pairs).map(lambda pair: Split(world_size, *pair))


@_check("values", "pipeline_forward", outputs)
def draw_forward_values(task: str, world_size: int) -> st.SearchStrategy[Forward]:
    """{task} gives the unsplit network's outputs"""
    return forwards(world_size)


@_check("shapes", "pipeline_forward", outputs)
def draw_forward_shapes(task: str, world_size: int) -> st.SearchStrategy[Forward]:
    """{task} takes token ids, micro-batches of different sizes, and outputs that are not contiguous"""
    return forwards(world_size, models=odd_models, rows=ANY_ROWS)


@_check("groups", "pipeline_forward", outputs)
def draw_forward_groups(task: str, world_size: int) -> st.SearchStrategy[Forward]:
    """{task} works in a group of some of the ranks"""
    return forwards(world_size, members=subgroups(world_size))


@_check("overlap", "pipeline_forward", overlap, SIMULATED)
def draw_forward_overlap(task: str, world_size: int) -> st.SearchStrategy[Forward]:
    """{task} has all stages at work at the same time"""
    rows = st.integers(1, 8).map(lambda count: (1,) * count)
    return forwards(world_size, rows=rows, cost=st.sampled_from([Cost(1.0), Cost(3.0)]))


@_check("gpipe", "Pipeline", gradients)
def draw_gpipe(task: str, world_size: int) -> st.SearchStrategy[Train]:
    """{task} under gpipe: loss and gradients are the unsplit network's"""
    return trainings(world_size, schedule=st.just("gpipe"))


@_check("one_f_one_b", "Pipeline", gradients)
def draw_one_f_one_b(task: str, world_size: int) -> st.SearchStrategy[Train]:
    """{task} under 1f1b: loss and gradients are the unsplit network's"""
    return trainings(world_size, schedule=st.just("1f1b"))


@_check("uneven", "Pipeline", gradients)
def draw_uneven(task: str, world_size: int) -> st.SearchStrategy[Train]:
    """{task} takes batches that do not divide into micro-batches"""
    return trainings(world_size, batches=uneven_batches)


@_check("networks", "Pipeline", gradients)
def draw_networks(task: str, world_size: int) -> st.SearchStrategy[Train]:
    """{task} takes token ids, frozen layers, stages without parameters or layers, outputs that are not contiguous"""
    return trainings(world_size, models=odd_models)


@_check("steps", "Pipeline", gradients)
def draw_steps(task: str, world_size: int) -> st.SearchStrategy[Train]:
    """{task} trains for several steps, and adds to the gradients that are there"""
    batches = st.sampled_from([(2, (4, 4)), (1, (2, 3, 2)), (3, (6, 3))])
    return trainings(world_size, batches=lambda _: batches, zero=st.booleans())


@_check("groups", "Pipeline", gradients)
def draw_groups(task: str, world_size: int) -> st.SearchStrategy[Train]:
    """{task} works in a group of some of the ranks"""
    return trainings(world_size, members=subgroups(world_size))


@_check("errors", "Pipeline", errors)
def draw_errors(task: str, world_size: int) -> st.SearchStrategy[Refusal]:
    """{task} refuses too few rows, an unknown schedule and no micro-batches, on every rank"""
    return refusals(world_size)


@_check("in_flight", "Pipeline", in_flight)
def draw_in_flight(task: str, world_size: int) -> st.SearchStrategy[Train]:
    """{task} keeps no more micro-batches in flight than its schedule has"""
    n = world_size
    batches = st.sampled_from([(n + 1, (n + 1,)), (2 * n, (2 * n,)), (8, (8,))])
    return trainings(n, batches=lambda _: batches)


@_check("bubble", "Pipeline", bubble, SIMULATED)
def draw_bubble(task: str, world_size: int) -> st.SearchStrategy[Train]:
    """{task} is idle for no longer than its schedule has to be"""
    batches = st.integers(1, 8).map(lambda count: (count, (count,)))
    cost = st.sampled_from([Cost(1.0, 2.0), Cost(2.0, 1.0), Cost(1.0, 3.0)])
    return trainings(world_size, batches=lambda _: batches, schedule=SCHEDULES, cost=cost)
