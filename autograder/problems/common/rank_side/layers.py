"""The language of layers: one word for each, from which a rank builds its part of a network, and the grader the whole.

In a network that is cut into stages each layer is called by its number, so that a parameter has the same name in a
stage and in the whole: "2.weight".
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

import msgspec
import torch
from torch import Tensor, nn

WORDS = 7  # entries of the table of a "row_embedding"


class Layer(msgspec.Struct, frozen=True):
    """A layer: one of KINDS, and its sizes: how many numbers go in, and come out (where only one is given, as many)."""

    kind: str
    sizes: tuple[int, ...] = ()
    dtype: str = "float64"
    bias: bool = True
    frozen: bool = False

    @property
    def inputs(self) -> int:
        """How many numbers go in."""
        return self.sizes[0]

    @property
    def outputs(self) -> int:
        """How many numbers come out."""
        return self.sizes[-1]

    @property
    def torch_dtype(self) -> torch.dtype:
        """The dtype of its parameters."""
        dtype: torch.dtype = getattr(torch, self.dtype)
        return dtype

    def __str__(self) -> str:
        """linear(3, 4), frozen linear(3, 4) float32, tanh."""
        sizes = f"({', '.join(map(str, self.sizes))})" if self.sizes else ""
        kind = SHOWN.get(self.kind, self.kind) + sizes
        return " ".join(["frozen"] * self.frozen + [kind] + [self.dtype] * (self.dtype != "float64"))


def linear(layer: Layer) -> nn.Linear:
    """x W + b, or without b."""
    return nn.Linear(layer.inputs, layer.outputs, bias=layer.bias, dtype=layer.torch_dtype)


class Transpose(nn.Module):
    """Swaps dimensions 1 and 2; what comes out is not contiguous."""

    def forward(self, x: Tensor) -> Tensor:
        return x.transpose(1, 2)


# Layers of a Model: besides x, each is given the rows that the model was given.


class TanhLinear(nn.Module):
    """tanh(x W + b)."""

    def __init__(self, layer: Layer) -> None:
        super().__init__()
        self.linear = linear(layer)

    def forward(self, x: Tensor, first: Tensor) -> Tensor:
        return torch.tanh(self.linear(x))


class Branch(TanhLinear):
    """x + tanh(x W + b): may be left out."""

    def forward(self, x: Tensor, first: Tensor) -> Tensor:
        return x + torch.tanh(self.linear(x))


class Tied(nn.Module):
    """Two linear layers that share their weight."""

    def __init__(self, layer: Layer) -> None:
        super().__init__()
        self.one, self.two = linear(layer), linear(layer)
        self.two.weight = self.one.weight

    def forward(self, x: Tensor, first: Tensor) -> Tensor:
        return torch.tanh(self.two(torch.tanh(self.one(x))))


class RowEmbedding(nn.Module):
    """Adds an entry for each row, chosen by the row that the model was given, to the mean of x."""

    def __init__(self, layer: Layer) -> None:
        super().__init__()
        self.table = nn.Embedding(WORDS, layer.outputs, dtype=layer.torch_dtype)

    def forward(self, x: Tensor, first: Tensor) -> Tensor:
        entries: Tensor = self.table((first.abs() * 10).long().sum(1) % WORDS)
        return entries + x.mean(1, keepdim=True)


class Convolution(nn.Module):
    """A convolution along the row, of three weights."""

    def __init__(self, layer: Layer) -> None:
        super().__init__()
        self.convolution = nn.Conv1d(1, 1, 3, padding=1, bias=layer.bias, dtype=layer.torch_dtype)

    def forward(self, x: Tensor, first: Tensor) -> Tensor:
        return torch.tanh(self.convolution(x.unsqueeze(1))).flatten(1)


class Transposed(nn.Module):
    """tanh(x W), where W lies in memory column by column."""

    def __init__(self, layer: Layer) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(layer.outputs, layer.inputs, dtype=layer.torch_dtype).t())

    def forward(self, x: Tensor, first: Tensor) -> Tensor:
        return torch.tanh(x @ self.weight)


class Norm(nn.Module):
    """Layer or batch normalisation."""

    def __init__(self, norm: nn.Module) -> None:
        super().__init__()
        self.norm = norm

    def forward(self, x: Tensor, first: Tensor) -> Tensor:
        normal: Tensor = self.norm(x)
        return normal


class Mask(nn.Module):
    """Changes signs where a buffer says so; two more buffers only sit there, one of them left out of the state dict."""

    negative: Tensor

    def __init__(self, layer: Layer) -> None:
        super().__init__()
        self.register_buffer("negative", torch.zeros(layer.inputs, dtype=torch.bool))
        self.register_buffer("count", torch.zeros((), dtype=torch.int64))
        self.register_buffer("scale", torch.zeros(layer.inputs, dtype=torch.float64), persistent=False)

    def forward(self, x: Tensor, first: Tensor) -> Tensor:
        return torch.where(self.negative, -x, x)


# What `build` makes a network of, and what a Model is made of.
PLAIN: dict[str, Callable[[Layer], nn.Module]] = {
    "linear": linear,
    "tanh": lambda layer: nn.Tanh(),
    "gelu": lambda layer: nn.GELU(),
    "embedding": lambda layer: nn.Embedding(layer.inputs, layer.outputs, dtype=layer.torch_dtype),
    "transpose": lambda layer: Transpose(),
    "flatten": lambda layer: nn.Flatten(1),
}
OF_MODELS: dict[str, Callable[[Layer], nn.Module]] = {
    "tanh_linear": TanhLinear,
    "branch": Branch,
    "tied": Tied,
    "row_embedding": RowEmbedding,
    "convolution": Convolution,
    "transposed": Transposed,
    "layer_norm": lambda layer: Norm(nn.LayerNorm(layer.inputs, dtype=layer.torch_dtype)),
    "batch_norm": lambda layer: Norm(nn.BatchNorm1d(layer.inputs, dtype=layer.torch_dtype)),
    "mask": Mask,
}
KINDS = PLAIN | OF_MODELS
SHOWN = {"tanh_linear": "linear", "row_embedding": "embedding"}  # kinds that a reader need not tell apart


def build_layer(layer: Layer) -> nn.Module:
    """One layer, its parameters as torch draws them."""
    return KINDS[layer.kind](layer).requires_grad_(not layer.frozen)


def build(layers: Mapping[int, Layer]) -> nn.Sequential:
    """Plain layers one after another, each called by its number."""
    network = nn.Sequential()
    for number, layer in layers.items():
        network.add_module(str(number), build_layer(layer))
    return network


class Model(nn.Module):
    """Layers one after another; `skipped` are the numbers of branches to leave out. Each casts to its own dtype.

    It takes rows of float64 numbers, as many as its first layer's inputs.
    """

    def __init__(self, layers: Sequence[Layer]) -> None:
        super().__init__()
        self.layers = nn.ModuleList(map(build_layer, layers))
        self.dtypes = [layer.torch_dtype for layer in layers]

    def forward(self, rows: Tensor, skipped: Collection[int] = ()) -> Tensor:
        """Numbers of the last layer's width for each row."""
        x = rows
        for number, (layer, dtype) in enumerate(zip(self.layers, self.dtypes, strict=True)):
            if number not in skipped:
                x = layer(x.to(dtype), rows)
        return x
