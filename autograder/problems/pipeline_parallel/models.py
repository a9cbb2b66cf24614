"""Networks to be cut into stages: plain ones, and ones with something unusual about them at every boundary."""

from __future__ import annotations

import dataclasses
from typing import Any

from hypothesis import strategies as st

from autograder.problems.common.rank_side.layers import Layer

WIDTHS = (3, 2, 4, 6, 5)


@dataclasses.dataclass(frozen=True)
class Network:
    """Layers as drivers/networks.py has them; `row` is the shape of one row of the input.

    With a `vocabulary` the inputs are token ids below it. `loss` is mse or cross_entropy.
    """

    layers: tuple[tuple[Any, ...], ...]
    row: tuple[int, ...]
    loss: str = "mse"
    vocabulary: int = 0


def show_layer(layer: Layer) -> str:
    """linear(3, 4), frozen linear(3, 4), tanh."""
    if layer[0] == "frozen":
        return f"frozen {show_layer(layer[1:])}"
    return f"{layer[0]}({', '.join(map(str, layer[1:]))})" if layer[1:] else layer[0]


def plain_networks(stages: int) -> st.SearchStrategy[Network]:
    """Linear layers of differing widths, tanh or gelu in between; every stage has a layer, the first a parameter."""

    @st.composite
    def draw_network(draw: st.DrawFn) -> Network:
        first, bend = draw(st.integers(0, len(WIDTHS) - 1)), draw(st.sampled_from(["tanh", "gelu"]))
        widths = WIDTHS[first:] + WIDTHS[:first]
        layers = [
            ("linear", widths[i // 2], widths[i // 2 + 1]) if i % 2 == 0 else (bend,)
            for i in range(draw(st.integers(stages, 8)))
        ]
        return Network(tuple(layers), (widths[0],), draw(st.sampled_from(["mse", "cross_entropy"])))

    return draw_network()


def odd_networks(stages: int) -> st.SearchStrategy[Network]:
    """Networks with transposes at the boundaries, so that nothing sent is contiguous by itself, and more besides."""
    return st.one_of(
        st.just(_tokens(stages)),
        st.integers(0, 2 ** (stages - 1) - 1).map(lambda frozen: _transposed(stages, frozen)),
        st.just(_without_parameters(stages)),
        st.just(_begun_by_transposes(stages)),
        st.integers(1, max(1, stages - 1)).map(_transposed),  # fewer layers than stages: the last have none
    )


def _transposed(stages: int, frozen: int = 0) -> Network:
    """A linear layer and a transpose on every stage; of all but the last those are frozen whose bit is set."""
    return Network(tuple(_linears((2, 3), stages, frozen)), (2, 3))


def _begun_by_transposes(stages: int) -> Network:
    """A transpose and a linear layer on every stage: gradients are not contiguous."""
    layers, (rows, width) = [], (2, 3)
    for stage in range(stages):
        layers += [("transpose",), ("linear", rows, WIDTHS[stage])]
        rows, width = width, WIDTHS[stage]
    return Network(tuple(layers), (2, 3))


def _without_parameters(stages: int) -> Network:
    """The first stage has nothing to train."""
    return Network((("tanh",), ("transpose",), *_linears((3, 2), max(1, stages - 1))), (2, 3))


def _tokens(stages: int) -> Network:
    """Token ids go in, and scores of four classes come out."""
    middle = _linears((3, 2), stages - 1)
    rows, width = _after((3, 2), stages - 1)
    layers = (("embedding", 9, 3), ("transpose",), *middle, ("flatten",), ("linear", rows * width, 4))
    return Network(layers, (2,), "cross_entropy", vocabulary=9)


def _linears(row: tuple[int, int], count: int, frozen: int = 0) -> list[tuple[Any, ...]]:
    """`count` times a linear layer and a transpose, from rows of that shape."""
    layers: list[tuple[Any, ...]] = []
    for i in range(count):
        linear = ("linear", _after(row, i)[1], WIDTHS[i])
        layers += [("frozen", *linear) if i < count - 1 and frozen >> i & 1 else linear, ("transpose",)]
    return layers


def _after(row: tuple[int, int], count: int) -> tuple[int, int]:
    """The shape of a row after so many of `_linears`' layers."""
    for i in range(count):
        row = WIDTHS[i], row[0]
    return row
