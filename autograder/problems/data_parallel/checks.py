"""Problem 3: what must hold of data parallelism, from a shard of the batch to buckets that travel during backward."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable

from hypothesis import strategies as st

from autograder.checks.check import Checks, Drawing, Judge
from autograder.cluster.simulated import SimulationConfig
from autograder.problems.common.groups import subgroups
from autograder.problems.common.rank_side.layers import OF_MODELS, Layer
from autograder.problems.data_parallel.examples import Averaging, Broadcast, Shards, averagings, broadcasts
from autograder.problems.data_parallel.examples_training import MB, Forward, Training, timed_trainings, trainings
from autograder.problems.data_parallel.judge import averaged, broadcasted, one_message, sharded
from autograder.problems.data_parallel.judge_buckets import bucketed, overlapped
from autograder.problems.data_parallel.judge_training import accumulated, agreed, forwarded, trained
from autograder.problems.data_parallel.replicas import having, layers, sometimes_frozen
from autograder.simulator import topology

AVERAGES = ("average_gradients", "average_gradients_flat")
CLASS = ("DistributedDataParallel",)
BOTH = ("float64", "float32")
TRAINING = 6  # what an example of training takes, where one call takes 1


LINK = topology.load(SimulationConfig().topology).link(0, 1)


CHECKS = Checks("data_parallel")


def _check(
    name: str, tasks: tuple[str, ...], judge: Judge, weight: int = 1, backends: tuple[str, ...] = ("sim", "real")
) -> Callable[[Drawing], Drawing]:
    return CHECKS.add(name, tasks, judge, backends, weight)


def _members(world_size: int) -> st.SearchStrategy[tuple[int, ...] | None]:
    """The world, or a group whose ranks are not 0, 1, 2, ..., where there can be one."""
    return st.one_of(st.none(), subgroups(world_size)) if world_size > 2 else st.none()


def _shards(world_size: int, rows: st.SearchStrategy[int]) -> st.SearchStrategy[Shards]:
    shapes = st.sampled_from([(), (3,), (2, 2)])
    tuples = st.sampled_from([0, 2, 3, 1])
    return st.builds(Shards, world_size=st.just(world_size), rows=rows, shape=shapes, tuple_of=tuples)


@_check("even", ("shard_batch",), sharded)
def draw_even(task: str, world_size: int) -> st.SearchStrategy[Shards]:
    """{task} gives each rank its consecutive rows of a tensor or tuple, and refuses what makes no sense"""
    return _shards(world_size, st.integers(1, 4).map(lambda share: share * world_size))


@_check("uneven", ("shard_batch",), sharded)
def draw_uneven(task: str, world_size: int) -> st.SearchStrategy[Shards]:
    """{task} splits any number of rows, fewer than ranks and none included"""
    return _shards(world_size, st.integers(0, 3 * world_size + 1))


@_check("parameters", ("broadcast_parameters",), broadcasted)
def draw_parameters(task: str, world_size: int) -> st.SearchStrategy[Broadcast]:
    """{task} gives every rank src's parameters, in the same objects"""
    return broadcasts(world_size, layers(["tanh_linear"], (1, 3)), _members(world_size))


@_check("buffers", ("broadcast_parameters",), broadcasted)
def draw_buffers(task: str, world_size: int) -> st.SearchStrategy[Broadcast]:
    """{task} gives every rank src's buffers: statistics, counters, masks, saved or not"""
    return broadcasts(world_size, layers(["mask", "batch_norm"], (1, 3)), _members(world_size))


@_check("layouts", ("broadcast_parameters",), broadcasted)
def draw_broadcast_layouts(task: str, world_size: int) -> st.SearchStrategy[Broadcast]:
    """{task} takes transposed, frozen, tied and float32 parameters as well"""
    drawn = layers(["transposed", "tied", "tanh_linear"], (1, 4), dtypes=BOTH, frozen=True)
    return broadcasts(world_size, drawn, _members(world_size))


@_check("mean", AVERAGES, averaged)
def draw_mean(task: str, world_size: int) -> st.SearchStrategy[Averaging]:
    """{task} leaves the average over the group's ranks in every gradient, to the last bits"""
    return averagings(task, world_size, layers(["tanh_linear"], (1, 3)), _members(world_size))


@_check("missing", AVERAGES, averaged)
def draw_missing(task: str, world_size: int) -> st.SearchStrategy[Averaging]:
    """{task} counts a missing gradient as zeros, and leaves frozen parameters alone"""
    drawn = sometimes_frozen(layers(["tanh_linear"], (1, 3), frozen=True))
    return averagings(task, world_size, drawn, _members(world_size), some_missing=True)


@_check("layouts", AVERAGES, averaged)
def draw_layouts(task: str, world_size: int) -> list[st.SearchStrategy[Averaging]]:
    """{task} takes transposed, tied and float32 parameters as well, and hides no inf and no NaN"""
    drawn, members = layers(["transposed", "tied", "tanh_linear"], (1, 4), dtypes=BOTH), _members(world_size)
    return [averagings(task, world_size, drawn, members, overflows=overflows) for overflows in (False, True)]


@_check("one_message", ("average_gradients_flat",), one_message)
def draw_one_message(task: str, world_size: int) -> st.SearchStrategy[Averaging]:
    """{task} needs one message for each dtype, of exactly the gradients' bytes"""
    drawn = sometimes_frozen(layers(["tanh_linear", "layer_norm"], (2, 5), dtypes=BOTH, frozen=True))
    return averagings(task, world_size, drawn, _members(world_size))


@_check("lockstep", CLASS, trained, weight=TRAINING)
def draw_lockstep(task: str, world_size: int) -> st.SearchStrategy[Training]:
    """{task} keeps replicas equal, to each other and to one process with the whole batch"""
    return trainings(world_size, layers(["tanh_linear"], (1, 3)), _members(world_size))


@_check("forward", CLASS, forwarded)
def draw_forward(task: str, world_size: int) -> st.SearchStrategy[Forward]:
    """{task} returns what the module returns for any arguments, and runs its hooks"""

    def called(drawn: tuple[Layer, ...]) -> Forward:
        branches = tuple(number for number, layer in enumerate(drawn) if layer.kind == "branch")
        return Forward(world_size=world_size, layers=drawn, skipped=branches)

    return having("branch", layers(["branch", "tanh_linear"], (1, 3))).map(called)


@_check("networks", CLASS, trained, weight=TRAINING)
def draw_networks(task: str, world_size: int) -> list[st.SearchStrategy[Training]]:
    """{task} trains any network: norms, embeddings, convolutions, tied, frozen, transposed, mixed dtypes, buffers"""
    dtypes = st.sampled_from([BOTH[:1], BOTH[1:], BOTH])
    drawn = dtypes.flatmap(lambda some: layers(list(OF_MODELS), (1, 9), dtypes=some, frozen=True, unique=True))
    caps = dict.fromkeys(OF_MODELS, st.sampled_from([25.0, 600 / MB, 1e-9]))
    caps["tied"] = st.just(25.0)  # who counts a parameter twice takes a bucket for full, if it is not alone in there
    return [trainings(world_size, having(kind, drawn), _members(world_size), caps=caps[kind]) for kind in OF_MODELS]


@_check("unused", CLASS, agreed, weight=TRAINING)
def draw_unused(task: str, world_size: int) -> st.SearchStrategy[Training]:
    """{task} averages rightly when parameters go unused, other ones on each rank and in each step"""
    drawn = having("branch", layers(["branch", "tanh_linear"], (2, 5)))
    return trainings(world_size, drawn, caps=st.sampled_from([25.0, 300 / MB, 150 / MB]), steps=(2, 4), skips=True)


@_check("accumulation", CLASS, accumulated, weight=TRAINING)
def draw_accumulation(task: str, world_size: int) -> list[st.SearchStrategy[Training]]:
    """{task} adds up micro-batches inside no_sync, nested or not, without a message, and averages their sum once"""
    drawn = having("branch", layers(["tanh_linear", "branch"], (1, 4)))

    def after_a_plain_step(example: Training, interrupted: bool, nested: bool) -> Training:
        """Branches are left out of the last micro-batch alone: every gradient is there, though it did not come last."""
        plain = (example.rows[0][:1],) * (1 + interrupted)  # the one after an interruption must not need a no_sync()
        last = frozenset(
            (step + len(plain), len(example.rows[step]) - 1, member, layer) for step, _, member, layer in example.here
        )
        rows = (*plain, *example.rows)
        without = dataclasses.replace(example, rows=rows, here=last, everywhere=frozenset())
        return dataclasses.replace(without, interrupted=interrupted, nested=nested)

    plain = trainings(world_size, drawn, steps=(2, 2), micros=(2, 3), skips=True)
    nested = trainings(world_size, drawn, steps=(2, 2), micros=(3, 3), skips=True)
    kinds = ((plain, False), (nested, True))
    return [st.builds(after_a_plain_step, drawn, st.booleans(), st.just(is_nested)) for drawn, is_nested in kinds]


@_check("buckets", CLASS, bucketed, weight=TRAINING)
def draw_buckets(task: str, world_size: int) -> st.SearchStrategy[Training]:
    """{task} packs gradients of one dtype into buckets within the cap, about as few as can be"""
    drawn = layers(["tanh_linear"], (7, 10), dtypes=BOTH, widths=st.integers(2, 4))
    caps = st.sampled_from([300 / MB, 520 / MB, 130 / MB, 60 / MB, 1e6])
    return trainings(world_size, drawn, caps=caps, steps=(2, 2))


@_check("overlap", CLASS, functools.partial(overlapped, LINK), weight=TRAINING, backends=("sim",))
def draw_overlap(task: str, world_size: int) -> list[st.SearchStrategy[Training]]:
    """{task} sends while backward goes on: each bucket once it is ready, a step in 1.1 of the chapter's bound"""
    return [timed_trainings(world_size, LINK, ratio) for ratio in (1.0, 0.5, 2.0)]
