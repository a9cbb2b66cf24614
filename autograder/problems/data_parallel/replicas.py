"""A drawn network on the ranks of a group, each with values of its own: what examples of problem 3 have in common."""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from hypothesis import strategies as st

from autograder.checks.example import Call, Description
from autograder.checks.placement import Members
from autograder.problems.common.rank_side.training import Network, state

Tensors = dict[str, torch.Tensor]
WIDTHS = st.integers(2, 5)
WIDENING = ("linear", "transposed", "embedding")  # layers whose outputs may differ in number from their inputs


@dataclasses.dataclass(frozen=True)
class Layer:
    """A layer of a network; the kinds are those of `drivers.training`."""

    kind: str
    inputs: int
    outputs: int
    dtype: str = "float64"
    bias: bool = True
    frozen: bool = False

    def __str__(self) -> str:
        size = f"({self.inputs}, {self.outputs})" if self.inputs != self.outputs else f"({self.inputs})"
        words = ["frozen"] * self.frozen + [self.kind + size] + [self.dtype] * (self.dtype != "float64")
        return " ".join(words)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Replicas(Members):
    """A network on the ranks of a group, each with values of its own. `members` are global ranks (None: the world)."""

    world_size: int
    layers: tuple[Layer, ...]
    members: tuple[int, ...] | None = None
    seed: int = 0

    @property
    def group(self) -> str:
        """The group as an argument of a call, in words."""
        return f", group={list(self.members)}" if self.members else ""

    @property
    def network(self) -> Network:
        """The network, for its names, shapes and dtypes; whoever computes with it loads values first."""
        return _network(self.layers)

    @functools.cached_property
    def states(self) -> list[Tensors]:
        """Each member's parameters and buffers before anything."""
        named = list(enumerate(state(self.network).items()))
        return [
            {name: fill(tuple(like.shape), like.dtype, (self.seed, member, i)) for i, (name, like) in named}
            for member in range(self.size)
        ]

    def spread(self, driver: str, arguments: dict[str, Any], tensors: dict[int, Tensors]) -> Call:
        """A call of the driver with the same arguments everywhere, and tensors by member; other ranks get the group only."""
        group = list(self.members) if self.members else None
        layers = [dataclasses.asdict(layer) for layer in self.layers]
        everyone = {"group": group, "layers": layers, **arguments}
        given = [tensors[self.ranks.index(rank)] if rank in self.ranks else {} for rank in range(self.world_size)]
        return Call(driver, (everyone,) * self.world_size, tuple(given))

    def description(self, call: str, *setting: str, given: dict[int, str] | None = None) -> Description:
        """The call, world size and network, and what each member is given."""
        words = [f"world size {self.world_size}", *setting, f"layers {', '.join(map(str, self.layers)) or 'none'}"]
        rows = tuple(
            (given or {}).get(self.ranks.index(rank), "") if rank in self.ranks else "not in the group"
            for rank in range(self.world_size)
        )
        return Description(call, ", ".join(words), rows)


@functools.lru_cache(maxsize=64)
def _network(drawn: tuple[Layer, ...]) -> Network:
    return Network([dataclasses.asdict(layer) for layer in drawn])


def fill(shape: tuple[int, ...], dtype: torch.dtype, seed: tuple[int, ...]) -> torch.Tensor:
    """Values that differ by seed and element: of both signs, none near zero."""
    generator, count = np.random.default_rng(seed), math.prod(shape)
    if dtype == torch.bool:
        return torch.from_numpy(generator.integers(0, 2, count).astype(bool)).reshape(shape)
    if not dtype.is_floating_point:
        return torch.from_numpy(generator.integers(0, 1000, count)).to(dtype).reshape(shape)
    signs = generator.choice((-1.0, 1.0), count)
    return torch.from_numpy(signs * generator.uniform(0.1, 1.0, count)).to(dtype).reshape(shape)


def bounds(rows: int, member: int, size: int) -> tuple[int, int]:
    """Where a member's rows begin and end: consecutive, the first members one row more where they do not divide."""
    share, more = divmod(rows, size)
    start = member * share + min(member, more)
    return start, start + share + (member < more)


def prefixed(prefix: str, tensors: Tensors) -> Tensors:
    """The tensors as a driver names them: `prefix/name`."""
    return {f"{prefix}/{name}": tensor for name, tensor in tensors.items()}


@st.composite
def layers(
    draw: st.DrawFn,
    kinds: Sequence[str],
    sizes: tuple[int, int],
    dtypes: Sequence[str] = ("float64",),
    frozen: bool = False,
    unique: bool = False,
    widths: st.SearchStrategy[int] = WIDTHS,
) -> tuple[Layer, ...]:
    """Layers of these kinds that fit one another; `sizes` says how few and how many. With `frozen`, one in four is."""
    width, drawn = draw(widths), []
    for kind in draw(st.lists(st.sampled_from(kinds), min_size=sizes[0], max_size=sizes[1], unique=unique)):
        outputs = draw(widths) if kind in WIDENING else width
        still = frozen and draw(st.sampled_from([False, False, False, True]))
        drawn.append(Layer(kind, width, outputs, draw(st.sampled_from(dtypes)), draw(st.booleans()), still))
        width = outputs
    return tuple(drawn)


def sometimes_frozen(drawn: st.SearchStrategy[tuple[Layer, ...]]) -> st.SearchStrategy[tuple[Layer, ...]]:
    """The same networks, one in four of them with nothing to train."""
    still = drawn.map(lambda network: tuple(dataclasses.replace(layer, frozen=True) for layer in network))
    return st.sampled_from([drawn, drawn, drawn, still]).flatmap(lambda chosen: chosen)


def having(kind: str, drawn: st.SearchStrategy[tuple[Layer, ...]]) -> st.SearchStrategy[tuple[Layer, ...]]:
    """Those of the networks that have a layer of this kind."""
    return drawn.filter(lambda network: any(layer.kind == kind for layer in network))
