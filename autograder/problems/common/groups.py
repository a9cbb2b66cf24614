"""Groups of ranks that examples work in: some of a world, or a mesh of groups side by side."""

from __future__ import annotations

from hypothesis import strategies as st

from autograder.checks.placement import Mesh

MESHES: dict[int, tuple[Mesh, ...]] = {4: (((0, 2), (1, 3)), ((0, 3), (1, 2)))}


def meshes(world_size: int) -> list[Mesh | None]:
    """The whole world (None), and the meshes that the world size allows."""
    return [None, *MESHES.get(world_size, ())]


def subgroups(world_size: int) -> st.SearchStrategy[tuple[int, ...]]:
    """Groups of two or more whose members' global ranks are not 0, 1, 2, ..."""
    return (
        st.sets(st.integers(0, world_size - 1), min_size=2, max_size=world_size)
        .map(lambda ranks: tuple(sorted(ranks)))
        .filter(lambda ranks: ranks != tuple(range(len(ranks))))
    )
