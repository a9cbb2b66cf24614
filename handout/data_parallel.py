# Problem 3: Data parallelism. Write what raises NotImplementedError, in any order; names and arguments stay as they are.
# What is asked: assignment/data_parallel.md. Where you stand: make grade ONLY=data_parallel
"""Data parallelism: every rank holds the whole model and a slice of the batch.

Each rank runs forward and backward on its own rows, then the ranks average their gradients. From equal parameters and
equal gradients every rank takes the same optimizer step, as if it had seen the whole batch.

The average divides by the number of ranks. A loss that is a mean over rows is therefore right as it is when all shards
have equally many rows; otherwise each rank multiplies its mean by `rows_here * world_size / rows_in_the_batch`.

In all functions `group=None` is the whole world, ranks passed as `src` are global ranks as in torch.distributed, and
gradients are dense.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn


def shard_batch(
    batch: Tensor | tuple[Tensor, ...], rank: int, world_size: int
) -> Tensor | tuple[Tensor, ...]:
    """Return the rows of `batch` that belong to `rank`.

    Rows are split along dimension 0 into `world_size` consecutive shards, in rank order. Where the rows don't divide,
    the first `rows % world_size` ranks hold one row more than the others; with fewer rows than ranks the last ranks
    get shards of 0 rows. Together the shards hold every row exactly once.

    Args:
        batch: a tensor of at least one dimension, or a tuple of such tensors with equally many rows (inputs and
            targets, say), all of which are split alike. It is left unharmed; the shard may be a view of it.
        rank: whose shard, 0 <= rank < world_size. No process group is needed.
        world_size: the number of shards.

    Returns:
        A tensor for a tensor, a tuple of as many tensors for a tuple. Dtypes and trailing dimensions are kept.

    Raises:
        ValueError: `rank` is out of range, or the tensors of a tuple differ in their number of rows.
    """
    raise NotImplementedError(
        "data_parallel.shard_batch: not written yet; "
        "see assignment/data_parallel.md, section shard_batch"
    )


def broadcast_parameters(module: nn.Module, src: int = 0, group: dist.ProcessGroup | None = None) -> None:
    """Make every parameter and buffer of `module` equal to rank `src`'s, on all ranks of the group.

    Tensors are overwritten in place: the module keeps the same Parameter objects, since an optimizer may hold them
    already. Frozen parameters count, and so do buffers of any dtype (running means, step counters, masks). A tensor
    may have any dense layout, a transposed one for example. Gradients are not touched.

    Args:
        module: the same architecture on every rank, with any values.
        src: global rank of the source; a member of the group.
        group: the ranks that take part.
    """
    raise NotImplementedError(
        "data_parallel.broadcast_parameters: not written yet; "
        "see assignment/data_parallel.md, section broadcast_parameters"
    )


def average_gradients(module: nn.Module, group: dist.ProcessGroup | None = None) -> None:
    """Replace each gradient by its average over the ranks of the group: the lecture's one-line trick.

    To be called by all ranks after backward and before the optimizer step.

    - The average is the sum over ranks divided by the group's size.
    - A parameter without a gradient (`grad is None`) on this rank counts as zeros, because another rank may have one;
      afterwards it holds the average as well. One that no rank has a gradient for may become zeros or stay None, on
      all ranks alike.
    - A frozen parameter (`requires_grad` false) is skipped, and its `grad` stays as it is.
    - Gradients keep shape and dtype; afterwards they are bitwise equal on all ranks.

    Args:
        module: the same architecture on every rank.
        group: the ranks that take part.
    """
    raise NotImplementedError(
        "data_parallel.average_gradients: not written yet; "
        "see assignment/data_parallel.md, section average_gradients"
    )


def average_gradients_flat(module: nn.Module, group: dist.ProcessGroup | None = None) -> None:
    """Average all gradients in a single message for each dtype.

    The outcome is that of `average_gradients`, missing and frozen gradients included. The gradients of one dtype
    travel as one flat tensor in one collective, so a module of a single dtype costs one message however many
    parameters it has, and a module with nothing to train costs none. No gradient changes its dtype on the way.

    Args:
        module: the same architecture on every rank.
        group: the ranks that take part.
    """
    raise NotImplementedError(
        "data_parallel.average_gradients_flat: not written yet; "
        "see assignment/data_parallel.md, section average_gradients_flat"
    )


class DistributedDataParallel(nn.Module):
    """A module whose gradients are averaged over the ranks while backward is still running.

    A training step looks like this:

        ddp = DistributedDataParallel(module)
        ddp(inputs)                                # then a loss
        loss.backward()                            # gradients start to travel, bucket by bucket
        ddp.finish_gradient_synchronization()      # all of them have arrived
        optimizer.step()

    Construction broadcasts parameters and buffers from the group's first rank. (After that, buffers are each rank's
    own: batch norm keeps the statistics of the rows that its rank sees.) Gradients are gathered into buckets, and a
    bucket's all-reduce is launched, asynchronously, as soon as backward has produced the last gradient in it.

    - A bucket holds parameters of one dtype, of at most `bucket_size_mb` MB together (1 MB is 2**20 bytes); a
      parameter larger than that has a bucket to itself. There are as few buckets as that allows for runs of
      parameters that are consecutive among those of their dtype.
    - Parameters fill the buckets in reverse order, since backward reaches the last layer first.
    - Ranks launch their buckets in one and the same order, whatever order gradients become ready in.
    - A parameter that this backward does not reach, on this rank or on all, counts as in `average_gradients`, and its
      bucket neighbours are averaged as ever. Which parameters are used may differ by rank and by step.
    - Which parameters are trained, and their dtypes, are fixed at construction. Between two calls of
      `finish_gradient_synchronization` there is at most one backward outside of `no_sync`.

    Args:
        module: the module to train, the same architecture on every rank; it stays reachable as `.module`, and
            `.module.state_dict()` has the plain names.
        bucket_size_mb: the cap of a bucket, in MB; more than 0, may be a fraction.
        group: the ranks that take part.
    """

    def __init__(
        self, module: nn.Module, bucket_size_mb: float = 25.0, group: dist.ProcessGroup | None = None
    ) -> None:
        """Broadcast the module's state from the group's first rank and set up the buckets."""
        raise NotImplementedError(
            "data_parallel.DistributedDataParallel.__init__: not written yet; "
            "see assignment/data_parallel.md, section DistributedDataParallel"
        )

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Run the module on this rank's rows: same arguments, same result, its own hooks included."""
        raise NotImplementedError(
            "data_parallel.DistributedDataParallel.forward: not written yet; "
            "see assignment/data_parallel.md, section DistributedDataParallel"
        )

    def finish_gradient_synchronization(self) -> None:
        """Return when every gradient is the average over the ranks; the next step may begin.

        To be called by all ranks once a step, after the step's last backward and before the optimizer. Buckets that
        backward did not complete, because some of their parameters went unused, are sent now.
        """
        raise NotImplementedError(
            "data_parallel.DistributedDataParallel.finish_gradient_synchronization: not written yet; "
            "see assignment/data_parallel.md, section DistributedDataParallel"
        )

    @contextmanager
    def no_sync(self) -> Iterator[None]:
        """Let gradients add up on this rank, without messages, while the context lasts.

        For accumulation: all micro-batches of a step but the last run forward and backward in here. The last one runs
        outside, and what is averaged then is the sum of all of them.
        """
        raise NotImplementedError(
            "data_parallel.DistributedDataParallel.no_sync: not written yet; "
            "see assignment/data_parallel.md, section DistributedDataParallel"
        )
