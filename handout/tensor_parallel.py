# Problem 4: Tensor parallelism. Write what raises NotImplementedError, in any order; names and arguments stay as they are.
# What is asked: assignment/tensor_parallel.md. Where you stand: make grade ONLY=tensor_parallel
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


def copy_to_region(x: torch.Tensor, group: dist.ProcessGroup | None = None) -> torch.Tensor:
    """Enter a tensor-parallel region with a whole activation: forward, x as it is; backward, an all-reduce.

    x: whole, (..., features). Returns the same values, whole.
    The gradient that comes back is partial, for every rank computed with its own slice of a weight; x gets the sum.
    """
    raise NotImplementedError(
        "tensor_parallel.copy_to_region: not written yet; "
        "see assignment/tensor_parallel.md, section copy_to_region"
    )


def reduce_from_region(x: torch.Tensor, group: dist.ProcessGroup | None = None) -> torch.Tensor:
    """Leave a tensor-parallel region by a sum: forward, an all-reduce; backward, the gradient as it is.

    x: this rank's term of a sum, (..., features); it stays as it was. Returns the sum, whole.
    The gradient that comes back is whole, and the gradient of a sum is that of each of its terms.
    """
    raise NotImplementedError(
        "tensor_parallel.reduce_from_region: not written yet; "
        "see assignment/tensor_parallel.md, section reduce_from_region"
    )


def gather_from_region(x: torch.Tensor, group: dist.ProcessGroup | None = None) -> torch.Tensor:
    """Leave a tensor-parallel region by putting slices together: forward, an all-gather; backward, the own slice.

    x: parallel, (..., features / n). Returns (..., features), whole.
    The gradient that comes back is whole, so that no communication is needed.
    """
    raise NotImplementedError(
        "tensor_parallel.gather_from_region: not written yet; "
        "see assignment/tensor_parallel.md, section gather_from_region"
    )


def scatter_to_region(x: torch.Tensor, group: dist.ProcessGroup | None = None) -> torch.Tensor:
    """Enter a tensor-parallel region with the own slice: forward, the slice; backward, an all-gather.

    x: whole, (..., features). Returns (..., features / n), parallel.
    The gradient that comes back is parallel; x gets all of its slices.
    Raises ValueError when the number of ranks does not divide features.
    """
    raise NotImplementedError(
        "tensor_parallel.scatter_to_region: not written yet; "
        "see assignment/tensor_parallel.md, section scatter_to_region"
    )


def all_gather_from_region(x: torch.Tensor, group: dist.ProcessGroup | None = None) -> torch.Tensor:
    """Go from one column-parallel layer to the next: forward, an all-gather; backward, a reduce-scatter.

    x: parallel, (..., features / n). Returns (..., features), whole.
    The gradient that comes back is partial, for the whole activation went into every rank's slice of the next weight.
    A single reduce-scatter sums it and leaves each rank with its slice, at half the bytes of an all-reduce.
    """
    raise NotImplementedError(
        "tensor_parallel.all_gather_from_region: not written yet; "
        "see assignment/tensor_parallel.md, section all_gather_from_region"
    )


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
    raise NotImplementedError(
        "tensor_parallel.column_parallel_forward: not written yet; "
        "see assignment/tensor_parallel.md, section column_parallel_forward"
    )


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
        raise NotImplementedError(
            "tensor_parallel.ColumnParallelLinear.__init__: not written yet; "
            "see assignment/tensor_parallel.md, section ColumnParallelLinear"
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Apply the layer to x, whole, (..., in_features).

        Communication: with gather_output an all-gather forward; an all-reduce backward, if x requires a gradient.
        """
        raise NotImplementedError(
            "tensor_parallel.ColumnParallelLinear.forward: not written yet; "
            "see assignment/tensor_parallel.md, section ColumnParallelLinear"
        )


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
        raise NotImplementedError(
            "tensor_parallel.RowParallelLinear.__init__: not written yet; "
            "see assignment/tensor_parallel.md, section RowParallelLinear"
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Apply the layer; returns (..., out_features), whole.

        Communication: an all-reduce forward; an all-gather backward, if x is whole and requires a gradient.
        """
        raise NotImplementedError(
            "tensor_parallel.RowParallelLinear.forward: not written yet; "
            "see assignment/tensor_parallel.md, section RowParallelLinear"
        )


class ParallelMLP(nn.Module):
    """Megatron's MLP: a column-parallel layer, gelu, a row-parallel layer; the hidden activation is never whole.

    fc1: ColumnParallelLinear(features, hidden_features), fc2: RowParallelLinear(hidden_features, features).
    Raises ValueError when the number of ranks does not divide hidden_features; features may be any size.
    """

    def __init__(
        self, features: int, hidden_features: int, bias: bool = True, group: dist.ProcessGroup | None = None
    ) -> None:
        super().__init__()
        raise NotImplementedError(
            "tensor_parallel.ParallelMLP.__init__: not written yet; "
            "see assignment/tensor_parallel.md, section ParallelMLP"
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Apply the MLP to x, whole, (..., features); returns the same shape, whole.

        Communication: one all-reduce forward, and one backward, if x requires a gradient. Nothing else.
        """
        raise NotImplementedError(
            "tensor_parallel.ParallelMLP.forward: not written yet; "
            "see assignment/tensor_parallel.md, section ParallelMLP"
        )
