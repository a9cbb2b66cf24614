"""Problem 4: what must hold of each region, of the network, and of each layer."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from autograder.checks.claims import claim
from autograder.checks.examples.groups import meshes
from autograder.checks.examples.shards import Start, starts
from autograder.checks.examples.tensor_parallel import Model, Region, kinds, models, regions
from autograder.checks.judges.shards import shards
from autograder.checks.judges.tensor_parallel import both_ways, costs, reduce_scattered

REGIONS = ("copy_to_region", "reduce_from_region", "gather_from_region", "scatter_to_region")
LAYERS = ("ColumnParallelLinear", "RowParallelLinear")
MODELS = ("column_parallel_forward", *LAYERS, "ParallelMLP")
BOTH = ("sim", "real")


def _claim(name: str, tasks: tuple[str, ...], judge: Any, backends: tuple[str, ...] = BOTH) -> Any:
    return claim("tensor_parallel", name, tasks, judge, backends)


@_claim("both_ways", REGIONS, judge=both_ways)
def test_both_ways(task: str, world_size: int) -> list[st.SearchStrategy[Region]]:
    """{task} gives the right values forward and the right gradient backward"""
    return [regions(task, world_size, **kind) for kind in kinds(world_size)]


@_claim("both_ways", ("all_gather_from_region",), judge=reduce_scattered)
def test_reduce_scattered(task: str, world_size: int) -> list[st.SearchStrategy[Region]]:
    """{task} gives the right values forward and the right gradient backward, by a reduce-scatter"""
    return [regions(task, world_size, **kind) for kind in kinds(world_size)]


@_claim("values", MODELS, judge=both_ways)
def test_values(task: str, world_size: int) -> list[st.SearchStrategy[Model]]:
    """{task} computes what the unsharded one does, and every gradient of it"""
    return [models(task, world_size, **kind) for kind in kinds(world_size)]


@_claim("shards", LAYERS, judge=shards, backends=("real",))
def test_shards(task: str, world_size: int) -> list[st.SearchStrategy[Start]]:
    """{task} makes each rank's share alone, drawn as nn.Linear draws, other values on every rank and in every layer"""
    return [starts(task, world_size, mesh) for mesh in meshes(world_size)]


@_claim("traffic", MODELS, judge=costs)
def test_traffic(task: str, world_size: int) -> list[st.SearchStrategy[Model]]:
    """{task} makes the operations that it needs, and no others"""
    plain = {"layout": st.just("contiguous"), "upstream": st.just("contiguous"), "calls": st.just(1)}
    few = {"lead": st.sampled_from([(3,), (2, 3)]), "requires_grad": st.booleans()}
    return [models(task, world_size, mesh=st.just(mesh), **plain, **few) for mesh in meshes(world_size)]
