"""Builds a network from a list of layers: a rank its part of it, the grader the whole, both from the same words.

A layer is a list: its kind and its sizes, as in ["linear", 3, 4] or ["linear", 3, 4, False] (no bias). One that begins
with "frozen" has parameters that need no gradient. In a network each layer is called by its number, so that a
parameter has the same name in a stage and in the whole: "2.weight".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn

Layer = Sequence[Any]


class Transpose(nn.Module):
    """Swaps dimensions 1 and 2; what comes out is not contiguous."""

    def forward(self, x: Tensor) -> Tensor:
        return x.transpose(1, 2)


KINDS: dict[str, Callable[..., nn.Module]] = {
    "linear": nn.Linear,
    "tanh": nn.Tanh,
    "gelu": nn.GELU,
    "embedding": nn.Embedding,
    "transpose": Transpose,
    "flatten": lambda: nn.Flatten(1),
}
LOSSES: dict[str, Callable[..., Tensor]] = {"mse": nn.functional.mse_loss, "cross_entropy": nn.functional.cross_entropy}


def build_layer(layer: Layer) -> nn.Module:
    """One layer, its parameters as torch draws them."""
    kind, *sizes = layer
    if kind == "frozen":
        return build_layer(sizes).requires_grad_(False)
    return KINDS[kind](*sizes)


def build(
    layers: Mapping[int, Layer], dtype: torch.dtype, parameters: Mapping[str, Tensor] | None = None
) -> nn.Sequential:
    """The layers one after another, by number, with these parameters by name."""
    network = nn.Sequential()
    for number, layer in layers.items():
        network.add_module(str(number), build_layer(layer))
    network.to(dtype)
    if parameters is not None:
        network.load_state_dict({name: parameters[name] for name in network.state_dict()})
    return network
