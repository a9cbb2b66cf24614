"""Problem 4: what must hold of each region, of the network, and of each layer."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import strategies as st

from autograder.checks.check import Checks, Drawing, Judge
from autograder.problems.common.groups import meshes
from autograder.problems.tensor_parallel.examples import Model, Region, kinds, models, regions
from autograder.problems.tensor_parallel.examples_shards import Start, starts
from autograder.problems.tensor_parallel.judge import both_ways, costs, reduce_scattered
from autograder.problems.tensor_parallel.judge_shards import shards

REGIONS = ("copy_to_region", "reduce_from_region", "gather_from_region", "scatter_to_region")
LAYERS = ("ColumnParallelLinear", "RowParallelLinear")
MODELS = ("column_parallel_forward", *LAYERS, "ParallelMLP")
BOTH = ("sim", "real")


CHECKS = Checks("tensor_parallel")


def _check(
    name: str, tasks: tuple[str, ...], judge: Judge, backends: tuple[str, ...] = BOTH
) -> Callable[[Drawing], Drawing]:
    return CHECKS.add(name, tasks, judge, backends)


@_check("both_ways", REGIONS, judge=both_ways)
def draw_both_ways(task: str, world_size: int) -> list[st.SearchStrategy[Region]]:
    """{task} gives the right values forward and the right gradient backward"""
    return [regions(task, world_size, **kind) for kind in kinds(world_size)]


@_check("both_ways", ("all_gather_from_region",), judge=reduce_scattered)
def draw_reduce_scattered(task: str, world_size: int) -> list[st.SearchStrategy[Region]]:
    """{task} gives the right values forward and the right gradient backward, by a reduce-scatter"""
    return [regions(task, world_size, **kind) for kind in kinds(world_size)]


@_check("values", MODELS, judge=both_ways)
def draw_values(task: str, world_size: int) -> list[st.SearchStrategy[Model]]:
    """{task} computes what the unsharded one does, and every gradient of it"""
    return [models(task, world_size, **kind) for kind in kinds(world_size)]


@_check("shards", LAYERS, judge=shards, backends=("real",))
def draw_shards(task: str, world_size: int) -> list[st.SearchStrategy[Start]]:
    """{task} makes each rank's share alone, drawn as nn.Linear draws, other values on every rank and in every layer"""
    return [starts(task, world_size, mesh) for mesh in meshes(world_size)]


@_check("traffic", MODELS, judge=costs)
def draw_traffic(task: str, world_size: int) -> list[st.SearchStrategy[Model]]:
    """{task} makes the operations that it needs, and no others"""
    plain = {"layout": st.just("contiguous"), "upstream": st.just("contiguous"), "calls": st.just(1)}
    few = {"lead": st.sampled_from([(3,), (2, 3)]), "requires_grad": st.booleans()}
    return [models(task, world_size, mesh=st.just(mesh), **plain, **few) for mesh in meshes(world_size)]
