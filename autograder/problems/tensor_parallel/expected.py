"""What tensor parallelism means, in one process: the unsharded computation, and each rank's slice of it.

Everything is float64 or small whole numbers: an order of additions is far within the bound, a mistake far outside.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
import torch
import torch.nn.functional as F

from autograder.checks.expected import Expected

Tensors = list[torch.Tensor]

# In which state each region takes x, gives y, is handed the gradient of y, and gives the gradient of x.
STATES = {
    "copy_to_region": ("whole", "whole", "partial", "whole"),
    "reduce_from_region": ("partial", "whole", "whole", "whole"),
    "gather_from_region": ("parallel", "whole", "whole", "parallel"),
    "scatter_to_region": ("whole", "parallel", "parallel", "whole"),
    "all_gather_from_region": ("parallel", "whole", "partial", "parallel"),
}


@dataclasses.dataclass(frozen=True)
class Passes:
    """What goes in and has to come out, in one group: for each call a list by member; parameters a list by member."""

    xs: list[Tensors]
    ys: list[Tensors]
    upstreams: list[Tensors]
    gradients: list[Tensors]
    parameters: dict[str, Tensors] = dataclasses.field(default_factory=dict)
    parameter_gradients: dict[str, Tensors] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True)
class Whole:
    """The same for the unsharded model: for each call a tensor; parameters a tensor each."""

    xs: Tensors
    ys: Tensors
    upstreams: Tensors
    gradients: Tensors
    parameters: dict[str, torch.Tensor]
    parameter_gradients: dict[str, torch.Tensor]


def joined(state: str, parts: Tensors) -> torch.Tensor:
    """The true tensor of which every member holds a part."""
    if state == "whole":
        return parts[0]
    return torch.cat(parts, dim=-1) if state == "parallel" else torch.stack(parts).sum(0)


def spread(state: str, true: torch.Tensor, size: int) -> Tensors:
    """Every member's part of the true tensor."""
    return sliced(true, -1 if state == "parallel" else None, size)


def sliced(tensor: torch.Tensor, dim: int | None, size: int) -> Tensors:
    """Equal slices along the dimension, side by side; all of it for every member without one."""
    return [tensor] * size if dim is None else list(tensor.chunk(size, dim))


def region(task: str, xs: list[Tensors], upstreams: list[Tensors]) -> Passes:
    """A region changes the state that a tensor is in, and never the tensor."""
    x_state, y_state, upstream_state, gradient_state = STATES[task]
    ys = [spread(y_state, joined(x_state, x), len(x)) for x in xs]
    gradients = [spread(gradient_state, joined(upstream_state, u), len(u)) for u in upstreams]
    return Passes(xs, ys, upstreams, gradients)


def unsharded(
    task: str,
    parameters: dict[str, torch.Tensor],
    xs: Tensors,
    upstreams: Tensors,
    only: tuple[int, int] | None = None,
) -> Whole:
    """The model in one piece, and autograd's gradients.

    `only` is (member, size): the gradient of x then comes through that member's slice of the first weight alone, which
    is what the member knows before any sum.
    """
    leaves = {name: p.clone().requires_grad_() for name, p in parameters.items()}
    inputs = [x.clone().requires_grad_() for x in xs]
    ys = [forward(task, leaves, x, only) for x in inputs]
    loss = torch.stack([(y * upstream).sum() for y, upstream in zip(ys, upstreams, strict=True)]).sum()
    gradients = torch.autograd.grad(loss, [*inputs, *leaves.values()])
    return Whole(
        xs=xs,
        ys=[y.detach() for y in ys],
        upstreams=upstreams,
        gradients=list(gradients[: len(inputs)]),
        parameters=parameters,
        parameter_gradients=dict(zip(leaves, gradients[len(inputs) :], strict=True)),
    )


def forward(
    task: str, parameters: dict[str, torch.Tensor], x: torch.Tensor, only: tuple[int, int] | None = None
) -> torch.Tensor:
    """The model's output; `only` as in `unsharded`."""
    if task == "column_parallel_forward":
        weights = list(parameters.values())
        x = F.gelu(_first(x, weights[0], only))
        for weight in weights[1:]:
            x = F.gelu(x @ weight)
        return x
    if task == "ParallelMLP":
        hidden = F.gelu(_first(x, parameters["fc1.weight"], only) + parameters.get("fc1.bias", 0.0))
        return hidden @ parameters["fc2.weight"] + parameters.get("fc2.bias", 0.0)
    return _first(x, parameters["weight"], only) + parameters.get("bias", 0.0)


def _first(x: torch.Tensor, weight: torch.Tensor, only: tuple[int, int] | None) -> torch.Tensor:
    if only is None:
        return x @ weight
    member, size = only
    slices = sliced(weight, 1, size)
    return torch.cat([(x if m == member else x.detach()) @ part for m, part in enumerate(slices)], dim=-1)


def near(values: torch.Tensor) -> Expected:
    """These values, up to the rounding of their dtype."""
    bound = 1e-9 if values.dtype == torch.float64 else 1e-5
    exact = values.double().numpy()
    return Expected(exact, values.dtype, bound * (1 + np.abs(exact)))


Traffic = dict[str, tuple[int, int]]  # by operation: how many, and bytes in all (S of nccl-tests)


def traffic(
    task: str, sizes: Sequence[int], rows: int, flag: bool, requires_grad: bool, itemsize: int = 8
) -> tuple[Traffic, Traffic]:
    """The operations that a model needs forward and backward; `rows` are the vectors in x."""

    def once(kind: str, features: int) -> Traffic:
        return {kind: (1, rows * features * itemsize)}

    for_x = once("all_reduce", sizes[0]) if requires_grad else {}
    if task == "ColumnParallelLinear":
        return once("all_gather", sizes[1]) if flag else {}, for_x
    if task == "RowParallelLinear":
        return once("all_reduce", sizes[1]), once("all_gather", sizes[0]) if requires_grad and not flag else {}
    if task == "ParallelMLP":
        return once("all_reduce", sizes[0]), for_x
    widths = sizes[1:]
    gathered = {"all_gather": (len(widths), rows * sum(widths) * itemsize)}
    between = widths[:-1]
    scattered = {"reduce_scatter": (len(between), rows * sum(between) * itemsize)} if between else {}
    return gathered, scattered | for_x
