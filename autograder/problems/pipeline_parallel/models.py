"""Models to be cut into stages: plain ones, and ones with something unusual about them at every boundary."""

from __future__ import annotations

import dataclasses

from hypothesis import strategies as st

from autograder.problems.common.rank_side.layers import Layer

WIDTHS = (3, 2, 4, 6, 5)
TRANSPOSE = Layer("transpose")


@dataclasses.dataclass(frozen=True)
class Model:
    """Layers in order; `row` is the shape of one row of the input.

    With a `vocabulary` the inputs are token ids below it. `loss` is one of LOSSES.
    """

    layers: tuple[Layer, ...]
    row: tuple[int, ...]
    loss: str = "mse"
    vocabulary: int = 0


def plain_models(stages: int) -> st.SearchStrategy[Model]:
    """Linear layers of differing widths, tanh or gelu in between; every stage has a layer, the first a parameter."""

    @st.composite
    def draw_model(draw: st.DrawFn) -> Model:
        first, bend = draw(st.integers(0, len(WIDTHS) - 1)), draw(st.sampled_from(["tanh", "gelu"]))
        widths = WIDTHS[first:] + WIDTHS[:first]
        layers = [
            Layer("linear", (widths[i // 2], widths[i // 2 + 1])) if i % 2 == 0 else Layer(bend)
            for i in range(draw(st.integers(stages, 8)))
        ]
        return Model(tuple(layers), (widths[0],), draw(st.sampled_from(["mse", "cross_entropy"])))

    return draw_model()


def odd_models(stages: int) -> st.SearchStrategy[Model]:
    """Models with transposes at the boundaries, so that nothing sent is contiguous by itself, and more besides."""
    return st.one_of(
        st.just(_tokens(stages)),
        st.integers(0, 2 ** (stages - 1) - 1).map(lambda frozen: _transposed(stages, frozen)),
        st.just(_without_parameters(stages)),
        st.just(_begun_by_transposes(stages)),
        st.integers(1, max(1, stages - 1)).map(_transposed),  # fewer layers than stages: the last have none
    )


def _transposed(stages: int, frozen: int = 0) -> Model:
    """A linear layer and a transpose on every stage; of all but the last those are frozen whose bit is set."""
    return Model(tuple(_linears((2, 3), stages, frozen)), (2, 3))


def _begun_by_transposes(stages: int) -> Model:
    """A transpose and a linear layer on every stage: gradients are not contiguous."""
    layers: list[Layer] = []
    rows, width = 2, 3
    for stage in range(stages):
        layers += [TRANSPOSE, Layer("linear", (rows, WIDTHS[stage]))]
        rows, width = width, WIDTHS[stage]
    return Model(tuple(layers), (2, 3))


def _without_parameters(stages: int) -> Model:
    """The first stage has nothing to train."""
    return Model((Layer("tanh"), TRANSPOSE, *_linears((3, 2), max(1, stages - 1))), (2, 3))


def _tokens(stages: int) -> Model:
    """Token ids go in, and scores of four classes come out."""
    middle = _linears((3, 2), stages - 1)
    rows, width = _after((3, 2), stages - 1)
    begin, end = (Layer("embedding", (9, 3)), TRANSPOSE), (Layer("flatten"), Layer("linear", (rows * width, 4)))
    return Model((*begin, *middle, *end), (2,), "cross_entropy", vocabulary=9)


def _linears(row: tuple[int, int], count: int, frozen: int = 0) -> list[Layer]:
    """`count` times a linear layer and a transpose, from rows of that shape."""
    layers: list[Layer] = []
    for i in range(count):
        still = i < count - 1 and bool(frozen >> i & 1)
        layers += [Layer("linear", (_after(row, i)[1], WIDTHS[i]), frozen=still), TRANSPOSE]
    return layers


def _after(row: tuple[int, int], count: int) -> tuple[int, int]:
    """The shape of a row after so many of `_linears`' layers."""
    for i in range(count):
        row = WIDTHS[i], row[0]
    return row
