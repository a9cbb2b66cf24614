"""What a pipeline means: the unsplit network, in one process and in float64, on the whole batch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import torch
from torch import Tensor, nn

from autograder.checks.expected import Expected
from autograder.problems.common.rank_side.layers import Layer, build
from autograder.problems.common.rank_side.training import load

Parameters = Mapping[str, Tensor]

# How much more than the first-order bound is allowed, for what that leaves out: how a layer amplifies the errors of the
# layers before it. The smallest mistake, a row of B that counts wrongly, is off by 1/B, some thousand times as much.
AMPLIFIED = 16


def even_runs(num_layers: int, num_stages: int) -> list[range]:
    """The layers of each stage: neighbouring ones, as even as possible, the first stages one more."""
    sizes = [(num_layers + num_stages - 1 - stage) // num_stages for stage in range(num_stages)]
    ends = np.cumsum([0, *sizes]).tolist()
    return [range(start, end) for start, end in zip(ends, ends[1:], strict=False)]


def unsplit(layers: Sequence[Layer], parameters: Parameters) -> nn.Sequential:
    """The whole network in float64."""
    return load(build(dict(enumerate(layers))), parameters)


def row_losses(name: str, outputs: Tensor, targets: Tensor) -> Tensor:
    """The loss of each row; the loss of rows together is their mean."""
    if name == "cross_entropy":
        return nn.functional.cross_entropy(outputs, targets, reduction="none")
    return (outputs - targets.double()).square().flatten(1).mean(1)


def activations(layers: Sequence[Layer], parameters: Parameters, inputs: Tensor) -> list[Tensor]:
    """The rows as they go in, and as they come out of each layer; the last are the network's outputs."""
    passing = [_exact(inputs)]
    with torch.no_grad():
        for layer in unsplit(layers, parameters):
            passing.append(layer(passing[-1]))
    return passing


def whole_gradients(
    layers: Sequence[Layer],
    parameters: Parameters,
    loss: str,
    inputs: Tensor,
    targets: Tensor,
    weights: Tensor | None = None,
) -> tuple[Tensor, dict[str, Tensor]]:
    """The loss of the whole batch and the gradient of each parameter that needs one.

    Row r counts `weights[r]`: without weights 1/B, the mean. Other weights tell what a wrong loss or gradient is.
    """
    network = unsplit(layers, parameters)
    losses = row_losses(loss, network(_exact(inputs)), targets)
    total = losses.mean() if weights is None else (losses * weights).sum()
    torch.autograd.backward(total)
    return total.detach(), {name: p.grad for name, p in network.named_parameters() if p.grad is not None}


def within(values: Tensor, dtype: torch.dtype, roundings: int, scale: float) -> Expected:
    """The expectation that `values` hold, computed in `dtype` with so many roundings on the way to each.

    To first order, n roundings on a path put a sum of terms off by at most n u times the sum of the terms' sizes, u =
    eps/2 (Higham, Accuracy and Stability of Numerical Algorithms, 3.1). Terms may cancel, so it is not the value itself
    that is taken for their size but `scale`, the largest value of its kind in the network.
    """
    relative = AMPLIFIED * roundings * torch.finfo(dtype).eps / 2
    return Expected(values.numpy(), dtype, np.full(tuple(values.shape), relative * scale))


def roundings(layers: Sequence[Layer], summed: int = 0) -> int:
    """Roundings from the input to the output, or, where `summed` rows are added up for a gradient, there and back.

    A sum of n products takes n roundings, any other function a few; the widest thing that a layer adds up is no larger
    than the largest of its sizes.
    """
    way = sum(max(layer.sizes, default=0) + 8 for layer in layers)
    return way + (way + summed if summed else 0)


def _exact(inputs: Tensor) -> Tensor:
    return inputs.double() if inputs.is_floating_point() else inputs
