"""A drawn model on the ranks of a group, each with values of its own: what examples of problem 3 have in common."""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Callable, Sequence

import msgspec
import numpy as np
import torch
from hypothesis import strategies as st

from autograder.checks.example import Call, Description
from autograder.checks.placement import InOneGroup
from autograder.problems.common.rank_side.layers import Layer, Model
from autograder.problems.common.rank_side.training import state

Tensors = dict[str, torch.Tensor]
WIDTHS = st.integers(2, 5)
WIDENING = ("tanh_linear", "transposed", "row_embedding")  # whose outputs may differ in number from their inputs
DrawnLayers = st.SearchStrategy[tuple[Layer, ...]]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Replicas(InOneGroup):
    """A model on the ranks of a group, each with values of its own. `members` are global ranks (None: the world)."""

    world_size: int
    layers: tuple[Layer, ...]
    members: tuple[int, ...] | None = None
    seed: int = 0

    @property
    def group(self) -> list[int] | None:
        """The group as ranks are told of it."""
        return list(self.members) if self.members else None

    @property
    def shown_group(self) -> str:
        """The group as an argument of a call, in words."""
        return f", group={self.group}" if self.members else ""

    @property
    def model(self) -> Model:
        """The model, for its names, shapes and dtypes; whoever computes with it loads values first."""
        return _model(self.layers)

    @functools.cached_property
    def states(self) -> list[Tensors]:
        """Each member's parameters and buffers before anything."""
        named = list(enumerate(state(self.model).items()))
        return [
            {name: fill(tuple(like.shape), like.dtype, (self.seed, member, i)) for i, (name, like) in named}
            for member in range(self.size)
        ]

    def asked(self, function: str, arguments: Sequence[msgspec.Struct], tensors: Sequence[Tensors]) -> Call:
        """A call of rank.py's function with these arguments by rank, and tensors by member; other ranks have none."""
        given = [tensors[self.ranks.index(rank)] if rank in self.ranks else {} for rank in range(self.world_size)]
        return Call(function, tuple(arguments), tuple(given))

    def description(self, call: str, *setting: str, given: dict[int, str] | None = None) -> Description:
        """The call, world size and layers, and what each member is given."""
        words = [f"world size {self.world_size}", *setting, f"layers {', '.join(map(str, self.layers)) or 'none'}"]
        rows = tuple(
            (given or {}).get(self.ranks.index(rank), "") if rank in self.ranks else "not in the group"
            for rank in range(self.world_size)
        )
        return Description(call, ", ".join(words), rows)


@functools.lru_cache(maxsize=64)
def _model(drawn: tuple[Layer, ...]) -> Model:
    return Model(drawn)


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


def keyed(key: Callable[[str], str], tensors: Tensors) -> Tensors:
    """The tensors as messages name them."""
    return {key(name): tensor for name, tensor in tensors.items()}


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
        sizes_of_layer = (width,) if outputs == width else (width, outputs)
        drawn.append(Layer(kind, sizes_of_layer, draw(st.sampled_from(dtypes)), draw(st.booleans()), still))
        width = outputs
    return tuple(drawn)


def sometimes_frozen(drawn: DrawnLayers) -> DrawnLayers:
    """The same layers, one time in four with nothing to train."""
    still = drawn.map(lambda layers: tuple(msgspec.structs.replace(layer, frozen=True) for layer in layers))
    return st.sampled_from([drawn, drawn, drawn, still]).flatmap(lambda chosen: chosen)


def having(kind: str, drawn: DrawnLayers) -> DrawnLayers:
    """Those that have a layer of this kind."""
    return drawn.filter(lambda layers: any(layer.kind == kind for layer in layers))
