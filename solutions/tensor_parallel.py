"""Problem 4: tensor parallelism, one layer's weight cut over the ranks of a group.

Every rank sees the whole batch and holds its own slice of every weight. Weights are (in_features, out_features), as in
the lecture: a layer is x @ weight + bias. With n ranks, rank r holds slice r: entries r * size / n up to
(r + 1) * size / n of the dimension that is cut. Ranks are counted within the group; group=None is the whole world.

An activation is either *whole* (the same on every rank) or *parallel* (every rank has its slice of the last
dimension). A gradient may also be *partial*: the true one is the sum over the ranks. Every function below says which
it takes and gives, forward and backward. Activations have one dimension or more, and need not be contiguous.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

# BEGIN SOLUTION
from typing import Any

Group = dist.ProcessGroup | None


def _share(size: int, group: Group, what: str) -> int:
    """One rank's share of size; ValueError when the group's ranks cannot have equal ones."""
    world_size = dist.get_world_size(group)
    if size % world_size != 0:
        raise ValueError(f"{what} is {size}, which {world_size} ranks cannot share equally")
    return size // world_size


def _all_reduce(x: torch.Tensor, group: Group) -> torch.Tensor:
    """The sum over the ranks, in memory of its own: x may be a gradient that others use too."""
    total = x.clone(memory_format=torch.contiguous_format)
    dist.all_reduce(total, group=group)
    return total


def _all_gather(x: torch.Tensor, group: Group) -> torch.Tensor:
    """All ranks' slices, side by side along the last dimension."""
    x = x.contiguous()
    slices = [torch.empty_like(x) for _ in range(dist.get_world_size(group))]
    dist.all_gather(slices, x, group=group)
    return torch.cat(slices, dim=-1)


def _own_slice(x: torch.Tensor, group: Group) -> torch.Tensor:
    """This rank's slice of the last dimension, in memory of its own."""
    share = _share(x.shape[-1], group, "the last dimension")
    return x.narrow(-1, dist.get_rank(group) * share, share).contiguous()


def _reduce_scatter(x: torch.Tensor, group: Group) -> torch.Tensor:
    """This rank's slice of the sum over the ranks."""
    share = _share(x.shape[-1], group, "the last dimension")
    slices = [s.contiguous() for s in x.split(share, dim=-1)]  # type: ignore[no-untyped-call]  # torch's own
    total = torch.empty_like(slices[0])
    dist.reduce_scatter(total, slices, group=group)
    return total


class _CopyTo(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, group: Group) -> torch.Tensor:
        ctx.group = group
        return x

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> tuple[torch.Tensor, None]:
        return _all_reduce(grad, ctx.group), None


class _ReduceFrom(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, group: Group) -> torch.Tensor:
        return _all_reduce(x, group)

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> tuple[torch.Tensor, None]:
        return grad, None


class _GatherFrom(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, group: Group) -> torch.Tensor:
        ctx.group = group
        return _all_gather(x, group)

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> tuple[torch.Tensor, None]:
        return _own_slice(grad, ctx.group), None


class _ScatterTo(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, group: Group) -> torch.Tensor:
        ctx.group = group
        return _own_slice(x, group)

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> tuple[torch.Tensor, None]:
        return _all_gather(grad, ctx.group), None


class _AllGatherFrom(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, group: Group) -> torch.Tensor:
        ctx.group = group
        return _all_gather(x, group)

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> tuple[torch.Tensor, None]:
        return _reduce_scatter(grad, ctx.group), None
# END SOLUTION


def copy_to_region(x: torch.Tensor, group: dist.ProcessGroup | None = None) -> torch.Tensor:
    """Enter a tensor-parallel region with a whole activation: forward, x as it is; backward, an all-reduce.

    x: whole, (..., features). Returns the same values, whole.
    The gradient that comes back is partial, for every rank computed with its own slice of a weight; x gets the sum.
    """
    # BEGIN SOLUTION
    return _CopyTo.apply(x, group)  # type: ignore[no-any-return, no-untyped-call]  # torch's own
    # END SOLUTION


def reduce_from_region(x: torch.Tensor, group: dist.ProcessGroup | None = None) -> torch.Tensor:
    """Leave a tensor-parallel region by a sum: forward, an all-reduce; backward, the gradient as it is.

    x: this rank's term of a sum, (..., features); it stays as it was. Returns the sum, whole.
    The gradient that comes back is whole, and the gradient of a sum is that of each of its terms.
    """
    # BEGIN SOLUTION
    return _ReduceFrom.apply(x, group)  # type: ignore[no-any-return, no-untyped-call]  # torch's own
    # END SOLUTION


def gather_from_region(x: torch.Tensor, group: dist.ProcessGroup | None = None) -> torch.Tensor:
    """Leave a tensor-parallel region by putting slices together: forward, an all-gather; backward, the own slice.

    x: parallel, (..., features / n). Returns (..., features), whole.
    The gradient that comes back is whole, so that no communication is needed.
    """
    # BEGIN SOLUTION
    return _GatherFrom.apply(x, group)  # type: ignore[no-any-return, no-untyped-call]  # torch's own
    # END SOLUTION


def scatter_to_region(x: torch.Tensor, group: dist.ProcessGroup | None = None) -> torch.Tensor:
    """Enter a tensor-parallel region with the own slice: forward, the slice; backward, an all-gather.

    x: whole, (..., features). Returns (..., features / n), parallel.
    The gradient that comes back is parallel; x gets all of its slices.
    Raises ValueError when the number of ranks does not divide features.
    """
    # BEGIN SOLUTION
    return _ScatterTo.apply(x, group)  # type: ignore[no-any-return, no-untyped-call]  # torch's own
    # END SOLUTION


def all_gather_from_region(x: torch.Tensor, group: dist.ProcessGroup | None = None) -> torch.Tensor:
    """Go from one column-parallel layer to the next: forward, an all-gather; backward, a reduce-scatter.

    x: parallel, (..., features / n). Returns (..., features), whole.
    The gradient that comes back is partial, for the whole activation went into every rank's slice of the next weight.
    A single reduce-scatter sums it and leaves each rank with its slice, at half the bytes of an all-reduce.
    """
    # BEGIN SOLUTION
    return _AllGatherFrom.apply(x, group)  # type: ignore[no-any-return, no-untyped-call]  # torch's own
    # END SOLUTION


def column_parallel_forward(
    x: torch.Tensor, weights: Sequence[torch.Tensor], group: dist.ProcessGroup | None = None
) -> torch.Tensor:
    """The lecture's column-parallel network: every layer is gelu(x @ weight), with an all-gather after each.

    x: whole, (..., features of the first layer).
    weights: this rank's slices, layer by layer, each (in_features, out_features / n).
    Returns the last layer's activation, whole; its gradient is taken to be whole as well.
    Communication for L layers: L all-gathers forward; L - 1 reduce-scatters backward, one between each two layers,
    and one all-reduce for the gradient of x, if x requires one.
    """
    # BEGIN SOLUTION
    x = copy_to_region(x, group)
    for layer, weight in enumerate(weights):
        x = F.gelu(x @ weight)
        # Only after the last layer do all ranks compute the same thing and hence the same gradient.
        last = layer == len(weights) - 1
        x = gather_from_region(x, group) if last else all_gather_from_region(x, group)
    return x
    # END SOLUTION


# BEGIN SOLUTION
def _random_slice(in_features: int, rows: int, columns: int, group: Group) -> nn.Parameter:
    """A slice of a weight with nn.Linear's distribution, other values on every rank, however ranks are seeded.

    Scripts seed all ranks alike, so that equal slices would come of the default generator. The draw from it keeps two
    layers apart; the rank is added to keep two ranks apart.
    """
    seed = int(torch.randint(2**62, ())) + dist.get_rank(group)
    bound = 1 / math.sqrt(in_features)
    weight = torch.empty(rows, columns)
    generator = torch.Generator(weight.device).manual_seed(seed)
    return nn.Parameter(weight.uniform_(-bound, bound, generator=generator))
# END SOLUTION


class ColumnParallelLinear(nn.Module):
    """A linear layer whose weight is cut on its columns: every rank computes a slice of the output features.

    Parameters, and nothing else that grows with the layer, on rank r of n:
        weight  (in_features, out_features / n), columns r * out_features / n onwards of the whole weight
        bias    (out_features / n,), the same slice of the whole bias; None without bias
    The weight starts as in nn.Linear, uniform within 1 / sqrt(in_features), with other values on every rank even where
    all ranks have the same seed; no rank ever makes the whole weight. The bias starts at zero.

    in_features, out_features: of the whole layer.
    gather_output: True gives (..., out_features), whole; False gives (..., out_features / n), parallel.
    Raises ValueError when the number of ranks does not divide out_features.
    """

    def __init__(
        self,
        in_features: int,
        out_features: int,
        bias: bool = True,
        gather_output: bool = True,
        group: dist.ProcessGroup | None = None,
    ) -> None:
        super().__init__()
        # BEGIN SOLUTION
        local_features = _share(out_features, group, "out_features")
        self.gather_output = gather_output
        self.group = group
        self.weight = _random_slice(in_features, in_features, local_features, group)
        self.bias = nn.Parameter(torch.zeros(local_features)) if bias else None
        # END SOLUTION

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Apply the layer to x, whole, (..., in_features).

        Communication: with gather_output an all-gather forward; an all-reduce backward, if x requires a gradient.
        """
        # BEGIN SOLUTION
        y = copy_to_region(x, self.group) @ self.weight
        if self.bias is not None:
            y = y + self.bias
        return gather_from_region(y, self.group) if self.gather_output else y
        # END SOLUTION


class RowParallelLinear(nn.Module):
    """A linear layer whose weight is cut on its rows: every rank computes a term of the output from its input slice.

    Parameters, and nothing else that grows with the layer, on rank r of n:
        weight  (in_features / n, out_features), rows r * in_features / n onwards of the whole weight
        bias    (out_features,), the whole bias, the same on every rank; None without bias
    They start as those of ColumnParallelLinear do.

    in_features, out_features: of the whole layer.
    input_is_parallel: True takes (..., in_features / n), parallel; False takes (..., in_features), whole.
    Raises ValueError when the number of ranks does not divide in_features.
    """

    def __init__(
        self,
        in_features: int,
        out_features: int,
        bias: bool = True,
        input_is_parallel: bool = False,
        group: dist.ProcessGroup | None = None,
    ) -> None:
        super().__init__()
        # BEGIN SOLUTION
        local_features = _share(in_features, group, "in_features")
        self.input_is_parallel = input_is_parallel
        self.group = group
        self.weight = _random_slice(in_features, local_features, out_features, group)
        self.bias = nn.Parameter(torch.zeros(out_features)) if bias else None
        # END SOLUTION

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Apply the layer; returns (..., out_features), whole.

        Communication: an all-reduce forward; an all-gather backward, if x is whole and requires a gradient.
        """
        # BEGIN SOLUTION
        if not self.input_is_parallel:
            x = scatter_to_region(x, self.group)
        y = reduce_from_region(x @ self.weight, self.group)
        return y if self.bias is None else y + self.bias
        # END SOLUTION


class ParallelMLP(nn.Module):
    """Megatron's MLP: a column-parallel layer, gelu, a row-parallel layer; the hidden activation is never whole.

    fc1: ColumnParallelLinear(features, hidden_features), fc2: RowParallelLinear(hidden_features, features).
    Raises ValueError when the number of ranks does not divide hidden_features; features may be any size.
    """

    def __init__(
        self, features: int, hidden_features: int, bias: bool = True, group: dist.ProcessGroup | None = None
    ) -> None:
        super().__init__()
        # BEGIN SOLUTION
        self.fc1 = ColumnParallelLinear(features, hidden_features, bias, gather_output=False, group=group)
        self.fc2 = RowParallelLinear(hidden_features, features, bias, input_is_parallel=True, group=group)
        # END SOLUTION

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Apply the MLP to x, whole, (..., features); returns the same shape, whole.

        Communication: one all-reduce forward, and one backward, if x requires a gradient. Nothing else.
        """
        # BEGIN SOLUTION
        return self.fc2(F.gelu(self.fc1(x)))  # type: ignore[no-any-return]  # a module's call has no types
        # END SOLUTION
