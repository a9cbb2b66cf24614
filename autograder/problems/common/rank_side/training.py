"""What is trained in problem 3, and how: networks of drawn layers, a loss, two optimizers. Ranks and the grader share it.

A layer is a mapping {kind, inputs, outputs, dtype, bias, frozen}; a network takes rows of `inputs` float64 numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn

WORDS = 7  # entries of an embedding
MARKED = ".scale"  # how buffers are called that nothing looks at: each rank keeps a mark of its own there

torch.backends.cudnn.allow_tf32 = False  # float32 means float32 on a GPU too


class Linear(nn.Module):
    """tanh(x W + b)."""

    def __init__(self, inputs: int, outputs: int, dtype: torch.dtype, bias: bool) -> None:
        super().__init__()
        self.linear = nn.Linear(inputs, outputs, bias=bias, dtype=dtype)

    def forward(self, x: Tensor, first: Tensor) -> Tensor:
        return torch.tanh(self.linear(x))


class Branch(Linear):
    """x + tanh(x W + b): may be left out."""

    def forward(self, x: Tensor, first: Tensor) -> Tensor:
        return x + torch.tanh(self.linear(x))


class Tied(nn.Module):
    """Two linear layers that share their weight."""

    def __init__(self, inputs: int, outputs: int, dtype: torch.dtype, bias: bool) -> None:
        super().__init__()
        self.one = nn.Linear(inputs, inputs, bias=bias, dtype=dtype)
        self.two = nn.Linear(inputs, inputs, bias=bias, dtype=dtype)
        self.two.weight = self.one.weight

    def forward(self, x: Tensor, first: Tensor) -> Tensor:
        return torch.tanh(self.two(torch.tanh(self.one(x))))


class Embedding(nn.Module):
    """Adds an entry for each row, chosen by the row that the network was given, to the mean of x."""

    def __init__(self, inputs: int, outputs: int, dtype: torch.dtype, bias: bool) -> None:
        super().__init__()
        self.table = nn.Embedding(WORDS, outputs, dtype=dtype)

    def forward(self, x: Tensor, first: Tensor) -> Tensor:
        return self.table((first.abs() * 10).long().sum(1) % WORDS) + x.mean(1, keepdim=True)


class Convolution(nn.Module):
    """A convolution along the row, of three weights."""

    def __init__(self, inputs: int, outputs: int, dtype: torch.dtype, bias: bool) -> None:
        super().__init__()
        self.convolution = nn.Conv1d(1, 1, 3, padding=1, bias=bias, dtype=dtype)

    def forward(self, x: Tensor, first: Tensor) -> Tensor:
        return torch.tanh(self.convolution(x.unsqueeze(1))).flatten(1)


class Transposed(nn.Module):
    """tanh(x W), where W lies in memory column by column."""

    def __init__(self, inputs: int, outputs: int, dtype: torch.dtype, bias: bool) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(outputs, inputs, dtype=dtype).t())

    def forward(self, x: Tensor, first: Tensor) -> Tensor:
        return torch.tanh(x @ self.weight)


class Norm(nn.Module):
    """Layer or batch normalisation."""

    def __init__(self, kind: type[nn.Module], inputs: int, dtype: torch.dtype) -> None:
        super().__init__()
        self.norm = kind(inputs, dtype=dtype)

    def forward(self, x: Tensor, first: Tensor) -> Tensor:
        return self.norm(x)


class Mask(nn.Module):
    """Changes signs where a buffer says so; two more buffers only sit there, one of them left out of the state dict."""

    def __init__(self, inputs: int) -> None:
        super().__init__()
        self.register_buffer("negative", torch.zeros(inputs, dtype=torch.bool))
        self.register_buffer("count", torch.zeros((), dtype=torch.int64))
        self.register_buffer("scale", torch.zeros(inputs, dtype=torch.float64), persistent=False)

    def forward(self, x: Tensor, first: Tensor) -> Tensor:
        return torch.where(self.negative, -x, x)


KINDS: dict[str, Callable[..., nn.Module]] = {
    "linear": Linear,
    "branch": Branch,
    "tied": Tied,
    "embedding": Embedding,
    "convolution": Convolution,
    "transposed": Transposed,
    "layer_norm": lambda inputs, outputs, dtype, bias: Norm(nn.LayerNorm, inputs, dtype),
    "batch_norm": lambda inputs, outputs, dtype, bias: Norm(nn.BatchNorm1d, inputs, dtype),
    "mask": lambda inputs, outputs, dtype, bias: Mask(inputs),
}


class Network(nn.Module):
    """The layers one after another; `skipped` are the numbers of branches to leave out. Each casts to its own dtype."""

    def __init__(self, layers: Sequence[Mapping[str, Any]]) -> None:
        super().__init__()
        self.layers = nn.ModuleList()
        self.dtypes = [getattr(torch, layer["dtype"]) for layer in layers]
        for layer, dtype in zip(layers, self.dtypes, strict=True):
            made = KINDS[layer["kind"]](layer["inputs"], layer["outputs"], dtype, layer["bias"])
            self.layers.append(made.requires_grad_(not layer["frozen"]))

    def forward(self, rows: Tensor, skipped: Collection[int] = ()) -> Tensor:
        """Numbers of the last layer's width for each row."""
        x = rows
        for number, (layer, dtype) in enumerate(zip(self.layers, self.dtypes, strict=True)):
            if number not in skipped:
                x = layer(x.to(dtype), rows)
        return x


class _Busy(torch.autograd.Function):
    """Passes a tensor on; its backward spends virtual time."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, seconds: float) -> Tensor:
        ctx.seconds = seconds
        return x.view_as(x)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:
        from autograder.simulator import rank_side

        rank_side.clock().spend(ctx.seconds)
        return grad, None


def take_time(network: Network, seconds: float) -> None:
    """On the simulated cluster: each layer's backward takes that long, and its gradients are there after it."""
    for layer in network.layers:
        layer.register_forward_hook(lambda module, inputs, output: _Busy.apply(output, seconds))


def state(network: nn.Module) -> dict[str, Tensor]:
    """All parameters, a tied one once, and all buffers, by name."""
    return dict([*network.named_parameters(), *network.named_buffers()])


def load(network: nn.Module, values: Mapping[str, Tensor]) -> nn.Module:
    """Writes `values` into parameters and buffers, by name."""
    with torch.no_grad():
        for name, tensor in state(network).items():
            tensor.copy_(values[name])
    return network


def loss(output: Tensor, target: Tensor, rows: int) -> Tensor:
    """This rank's part of the mean over `rows` of the squared distance to the target; parts add up."""
    return ((output.double() - target) ** 2).sum() / rows


class Momentum:
    """Gradient descent with momentum."""

    def __init__(self, parameters: Iterable[nn.Parameter]) -> None:
        self._velocities = {parameter: torch.zeros_like(parameter) for parameter in parameters}

    @torch.no_grad()
    def step(self) -> None:
        for parameter, velocity in self._velocities.items():
            velocity.mul_(0.9).add_(parameter.grad)
            parameter.sub_(0.1 * velocity)


class AdamW:
    """AdamW, with an epsilon that keeps rounding errors of small gradients small."""

    def __init__(self, parameters: Iterable[nn.Parameter]) -> None:
        self._moments = {p: (torch.zeros_like(p), torch.zeros_like(p)) for p in parameters}
        self._steps = 0

    @torch.no_grad()
    def step(self) -> None:
        self._steps += 1
        for parameter, (mean, square) in self._moments.items():
            mean.mul_(0.9).add_(0.1 * parameter.grad)
            square.mul_(0.99).add_(0.01 * parameter.grad**2)
            unbiased = square / (1 - 0.99**self._steps)
            parameter.mul_(1 - 1e-3).sub_(1e-2 * mean / (1 - 0.9**self._steps) / (unbiased.sqrt() + 1e-3))


OPTIMIZERS = {"momentum": Momentum, "adamw": AdamW}
