"""How a model is trained, by ranks and grader alike: losses, two optimizers, and what belongs to a model's state."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol, TypeVar

import torch
from torch import Tensor, nn

from autograder.problems.common.rank_side.layers import Model

Loaded = TypeVar("Loaded", bound=nn.Module)

MARKED = ".scale"  # how buffers are called that nothing looks at: each rank keeps a mark of its own there
LOSSES: dict[str, Callable[..., Tensor]] = {"mse": nn.functional.mse_loss, "cross_entropy": nn.functional.cross_entropy}

torch.backends.cudnn.allow_tf32 = False  # float32 means float32 on a GPU too


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


def take_time(model: Model, seconds: float) -> None:
    """On the simulated cluster: each layer's backward takes that long, and its gradients are there after it."""

    def busy(module: nn.Module, inputs: Any, output: Tensor) -> Any:
        return _Busy.apply(output, seconds)  # type: ignore[no-untyped-call]  # torch has not typed it

    for layer in model.layers:
        layer.register_forward_hook(busy)


def state(model: nn.Module) -> dict[str, Tensor]:
    """All parameters, a tied one once, and all buffers, by name."""
    return dict([*model.named_parameters(), *model.named_buffers()])


def load(model: Loaded, values: Mapping[str, Tensor]) -> Loaded:
    """Writes `values` into parameters and buffers, by name."""
    with torch.no_grad():
        for name, tensor in state(model).items():
            tensor.copy_(values[name])
    return model


def loss(output: Tensor, target: Tensor, rows: int) -> Tensor:
    """This rank's part of the mean over `rows` of the squared distance to the target; parts add up."""
    return ((output.double() - target) ** 2).sum() / rows


class Optimizer(Protocol):
    """Changes parameters by their gradients, all of which are there."""

    def step(self) -> None: ...


class Momentum:
    """Gradient descent with momentum."""

    def __init__(self, parameters: Iterable[nn.Parameter]) -> None:
        self._velocities = {parameter: torch.zeros_like(parameter) for parameter in parameters}

    @torch.no_grad()
    def step(self) -> None:
        for parameter, velocity in self._velocities.items():
            velocity.mul_(0.9).add_(_gradient(parameter))
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
            mean.mul_(0.9).add_(0.1 * _gradient(parameter))
            square.mul_(0.99).add_(0.01 * _gradient(parameter) ** 2)
            unbiased = square / (1 - 0.99**self._steps)
            parameter.mul_(1 - 1e-3).sub_(1e-2 * mean / (1 - 0.9**self._steps) / (unbiased.sqrt() + 1e-3))


def _gradient(parameter: nn.Parameter) -> Tensor:
    assert parameter.grad is not None
    return parameter.grad


OPTIMIZERS: dict[str, Callable[[Iterable[nn.Parameter]], Optimizer]] = {"momentum": Momentum, "adamw": AdamW}
