"""Problem 1: what must hold of each collective.

Each check below draws examples for the tasks it names; `values` and `costs` judge what comes back.
"""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import strategies as st

from autograder.checks.check import Checks, Drawing, Judge, Spent
from autograder.problems.collectives.examples import (
    FLOATS,
    INTEGERS,
    ODD_LAYOUTS,
    OPS,
    REDUCERS,
    Collective,
    collectives,
    dtypes,
    edges,
    equal_inputs,
    equal_outputs,
    uneven_splits,
)
from autograder.problems.collectives.judge import costs, lockstep, refusals, spent, values
from autograder.problems.common.groups import subgroups

Draws = st.SearchStrategy[Collective]
REDUCING = REDUCERS
MOVING = ("broadcast", "scatter", "gather", "all_gather", "all_to_all")
ALL = ("broadcast", "scatter", "gather", "reduce", "all_gather", "reduce_scatter", "all_reduce", "all_to_all")


CHECKS = Checks("collectives")


def _check(
    name: str,
    tasks: tuple[str, ...],
    judge: Judge = values,
    backends: tuple[str, ...] = ("sim", "real"),
    spent: Spent | None = None,
) -> Callable[[Drawing], Drawing]:
    return CHECKS.add(name, tasks, judge, backends, spent=spent)


@_check("values", ALL)
def draw_values(task: str, world_size: int) -> Draws:
    """{task} gives every rank the right values"""
    return collectives(task, world_size)


@_check("sizes", tuple(task for task in ALL if task != "all_to_all"))
def draw_sizes(task: str, world_size: int) -> list[Draws]:
    """{task} takes any size: empty, fewer elements than ranks, not divisible, no dimension"""
    return [collectives(task, world_size, shape=st.just(shape)) for shape in edges(world_size)]


@_check("splits", ("all_to_all",))
def draw_splits(task: str, world_size: int) -> list[Draws]:
    """{task} takes any split sizes, rows of none included, and those of one side alone"""
    shapes = st.sampled_from([(1,), (1, 2), (1, 0)])
    sides = [(uneven_splits, ""), (equal_inputs, "input"), (equal_outputs, "output")]
    return [collectives(task, world_size, splits=drawn, without=side, shape=shapes) for drawn, side in sides]


@_check("dtypes", MOVING)
def draw_dtypes(task: str, world_size: int) -> list[Draws]:
    """{task} moves every dtype bit for bit"""
    return [collectives(task, world_size, dtype=st.just(dtype)) for dtype in dtypes(task)]


@_check("ops", REDUCING)
def draw_ops(task: str, world_size: int) -> list[Draws]:
    """{task} knows SUM, PRODUCT, MIN, MAX and AVG, in every dtype"""
    pairs = [(op, dtype) for op in OPS for dtype in dtypes(task, op)]
    return [collectives(task, world_size, op=st.just(op), dtype=st.just(dtype)) for op, dtype in pairs]


@_check("errors", REDUCING, judge=refusals)
def draw_errors(task: str, world_size: int) -> Draws:
    """{task} raises ValueError for the average of integers"""
    integers = st.sampled_from(INTEGERS)
    return collectives(task, world_size, op=st.just("AVG"), dtype=integers, must_raise=st.just("ValueError"))


@_check("layouts", ALL)
def draw_layouts(task: str, world_size: int) -> Draws:
    """{task} takes tensors that are not contiguous"""
    n = world_size
    return collectives(task, n, layout=ODD_LAYOUTS, shape=st.sampled_from([(n, 3), (3, 2), (2 * n,), (2, 3, 2)]))


@_check("groups", ALL)
def draw_groups(task: str, world_size: int) -> Draws:
    """{task} works in a group of some of the ranks"""
    ops = st.sampled_from(["SUM", "AVG"])  # an average is over the group
    floats = st.sampled_from(FLOATS[:2])
    return collectives(task, world_size, members=subgroups(world_size), op=ops, dtype=floats)


@_check("lockstep", ("all_reduce",), judge=lockstep)
def draw_lockstep(task: str, world_size: int) -> list[Draws]:
    """{task} leaves bitwise the same result on every rank"""
    drawn = {"values": st.just("random"), "shape": st.sampled_from([(64,), (3, 35)])}  # whole numbers have no last bits
    pairs = [(op, dtype) for op in ("SUM", "AVG", "PRODUCT") for dtype in FLOATS]
    return [collectives(task, world_size, op=st.just(op), dtype=st.just(dtype), **drawn) for op, dtype in pairs]


@_check("cost", ALL, judge=costs, backends=("sim",), spent=spent)
def draw_cost(task: str, world_size: int) -> Draws:
    """{task} takes no more bytes, messages and time than it has to"""
    n = world_size
    topologies = st.sampled_from(["laptop", "nvlink-8", "pod", "ethernet"])
    return collectives(task, n, shape=st.sampled_from([(12 * n,), (8 * n + 1, 3)]), topology=topologies)


@_check("scale", ("all_reduce",), judge=costs, backends=("sim",), spent=spent)
def draw_scale(task: str, world_size: int) -> Draws:
    """{task} is right and cheap on eight nodes of eight GPUs"""
    return collectives(task, world_size, shape=st.just((2 * world_size + 3,)), topology=st.just("pod"))
