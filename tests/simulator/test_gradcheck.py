"""The reference of problem 4 against finite differences, on ranks that compute in step."""

from __future__ import annotations

import pytest
import torch
import torch.fx.experimental.symbolic_shapes  # noqa: F401  (gradcheck would import it in every rank)
from warm_ranks import once

from solutions import tensor_parallel as reference


def numbers(*shape: int, seed: int = 0) -> torch.Tensor:
    """The same on every rank."""
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def check_gradients(rank: int, n: int, model: str) -> bool:
    """gradcheck moves the same element of a whole x on all ranks at once, so that it sees what x does to the result."""
    x = numbers(2, 3 * n).requires_grad_()
    if model == "network":
        weights = [numbers(3 * n, 2, seed=rank + 1), numbers(2 * n, 1, seed=rank + 11)]
        return torch.autograd.gradcheck(lambda x: reference.column_parallel_forward(x, weights), (x,))
    layer = getattr(reference, model)(3 * n, 2 * n)
    return torch.autograd.gradcheck(layer.double(), (x,))


def check_weights(rank: int, n: int) -> bool:
    """Where the output stays in slices a rank's slice depends on its own weights alone."""
    layer = reference.ColumnParallelLinear(3, 2 * n, gather_output=False).double()
    x = numbers(2, 3)

    def output(weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
        return torch.func.functional_call(layer, {"weight": weight, "bias": bias}, (x,))

    return torch.autograd.gradcheck(output, tuple(p.detach().clone().requires_grad_() for p in layer.parameters()))


@pytest.mark.parametrize("model", ["network", "ColumnParallelLinear", "RowParallelLinear", "ParallelMLP"])
def test_gradient_of_the_input(model: str) -> None:
    outcome = once(check_gradients, 3, model)
    assert outcome.verdict is None
    assert outcome.results == [True] * 3


def test_gradient_of_the_weights() -> None:
    outcome = once(check_weights, 3)
    assert outcome.verdict is None
    assert outcome.results == [True] * 3
