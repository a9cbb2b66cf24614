"""Networks to be cut into stages: plain ones, and ones with something unusual about them at every boundary."""

from __future__ import annotations

import dataclasses
from typing import Any

from hypothesis import strategies as st

from autograder.drivers.networks import Layer

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
    """Networks with something unusual about them, for every boundary: see the functions that are named here."""
    return st.one_of(
        st.just(_tokens(stages)),
        st.sampled_from([_transposed(stages, first) for first in ("linear", "transpose")]),
        st.integers(1, max(1, 2 ** (stages - 1) - 1)).map(lambda which: _frozen(stages, which)),
        st.just(_without_parameters(stages)),
        st.integers(1, max(1, stages - 1)).map(_short),
    )


def _tokens(stages: int) -> Network:
    """Token ids go in; two and three dimensions."""
    middle = (
        (("linear", 5, 4), ("gelu",), ("layer_norm", 4)) if stages < 4 else (("linear", 5, 4, False), ("layer_norm", 4))
    )
    return Network((("embedding", 9, 5), *middle, ("flatten",), ("linear", 12, 4)), (3,), "cross_entropy", vocabulary=9)


def _transposed(stages: int, first: str) -> Network:
    """Stages that end, or begin, with a transpose: what they send is not contiguous."""
    layers: list[tuple[Any, ...]] = []
    row = [2, 3]
    for width in (WIDTHS * 2)[:stages]:
        for kind in ("linear", "transpose") if first == "linear" else ("transpose", "linear"):
            if kind == "linear":
                layers.append(("linear", row[1], width))
                row[1] = width
            else:
                layers.append(("transpose",))
                row.reverse()
    return Network(tuple(layers), (2, 3))


def _frozen(stages: int, which: int) -> Network:
    """Two layers a stage; of all stages but the last, those are frozen whose bit is set in `which`."""
    layers: list[tuple[Any, ...]] = []
    for stage in range(stages):
        linear = ("linear", WIDTHS[stage], WIDTHS[stage + 1])
        layers += [("frozen", *linear) if stage < stages - 1 and which >> stage & 1 else linear, ("tanh",)]
    return Network(tuple(layers), (WIDTHS[0],))


def _without_parameters(stages: int) -> Network:
    """The first stage has nothing to train."""
    rest = [layer for stage in range(max(1, stages - 1)) for layer in (("linear", 3 + stage, 4 + stage), ("gelu",))]
    return Network((("tanh",), ("gelu",), *rest), (3,))


def _short(layers: int) -> Network:
    """Fewer layers than stages (but on one stage): the last stages have none and pass on what they get."""
    plain = [("linear", WIDTHS[i], WIDTHS[i + 1]) for i in range(layers)]
    return Network(tuple(plain), (WIDTHS[0],), "cross_entropy")
