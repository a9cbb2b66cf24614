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

# BEGIN SOLUTION
BYTES_PER_MB = 2**20


def _trainable(module: nn.Module) -> list[nn.Parameter]:
    """The parameters that need a gradient, in the module's order, a tied one once."""
    return [parameter for parameter in module.parameters() if parameter.requires_grad]


def _gradient(parameter: nn.Parameter) -> Tensor:
    """The parameter's gradient; one that is missing becomes zeros first."""
    if parameter.grad is None:
        parameter.grad = torch.zeros_like(parameter)
    return parameter.grad


def _flatten_gradients(parameters: list[nn.Parameter]) -> Tensor:
    """A new one-dimensional tensor with the gradients of `parameters` one after the other, whatever their strides."""
    return torch.cat([_gradient(parameter).reshape(-1) for parameter in parameters])


def _unflatten_gradients(flat: Tensor, parameters: list[nn.Parameter]) -> None:
    """Write the pieces of `flat` back into the gradients that they were flattened from."""
    pieces = flat.split([parameter.numel() for parameter in parameters])  # type: ignore[no-untyped-call]  # torch's own
    for parameter, piece in zip(parameters, pieces, strict=True):
        _gradient(parameter).copy_(piece.view(parameter.shape))


# END SOLUTION


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
    # BEGIN SOLUTION
    if not 0 <= rank < world_size:
        raise ValueError(f"rank {rank} is not one of 0..{world_size - 1}")
    if isinstance(batch, tuple):
        rows = [len(tensor) for tensor in batch]
        if len(set(rows)) > 1:
            raise ValueError(f"the tensors of a batch need equally many rows, got {rows}")
        return tuple(shard_batch(tensor, rank, world_size) for tensor in batch)  # type: ignore[misc]  # of tensors
    return batch.tensor_split(world_size)[rank]
    # END SOLUTION


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
    # BEGIN SOLUTION
    with torch.no_grad():
        for tensor in [*module.parameters(), *module.buffers()]:
            message = tensor.detach().contiguous()
            dist.broadcast(message, src=src, group=group)
            tensor.copy_(message)
    # END SOLUTION


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
    # BEGIN SOLUTION
    world_size = dist.get_world_size(group)
    with torch.no_grad():
        for parameter in _trainable(module):
            message = _gradient(parameter).contiguous()
            dist.all_reduce(message, op=dist.ReduceOp.SUM, group=group)
            parameter.grad.copy_(message / world_size)  # type: ignore[union-attr]  # `_gradient` has made one
    # END SOLUTION


def average_gradients_flat(module: nn.Module, group: dist.ProcessGroup | None = None) -> None:
    """Average all gradients in a single message for each dtype.

    The outcome is that of `average_gradients`, missing and frozen gradients included. The gradients of one dtype
    travel as one flat tensor in one collective, so a module of a single dtype costs one message however many
    parameters it has, and a module with nothing to train costs none. No gradient changes its dtype on the way.

    Args:
        module: the same architecture on every rank.
        group: the ranks that take part.
    """
    # BEGIN SOLUTION
    world_size = dist.get_world_size(group)
    by_dtype: dict[torch.dtype, list[nn.Parameter]] = {}
    for parameter in _trainable(module):
        by_dtype.setdefault(parameter.dtype, []).append(parameter)
    with torch.no_grad():
        for parameters in by_dtype.values():
            flat = _flatten_gradients(parameters)
            dist.all_reduce(flat, op=dist.ReduceOp.SUM, group=group)
            _unflatten_gradients(flat / world_size, parameters)
    # END SOLUTION


# BEGIN SOLUTION
class _Bucket:
    """Parameters of one dtype whose gradients travel in one message."""

    def __init__(self, parameters: list[nn.Parameter]) -> None:
        self.parameters = parameters
        self.reset()

    def reset(self) -> None:
        """Forget the step that is over."""
        self.pending = set(self.parameters)  # whose gradients this step's backward has yet to produce
        self.flat: Tensor | None = None
        self.work: dist.Work | None = None


def _fill_buckets(parameters: list[nn.Parameter], capacity_bytes: float) -> list[_Bucket]:
    """Pack parameters, in the order given, into buckets of one dtype and at most `capacity_bytes` each.

    A parameter that is larger than the capacity gets a bucket to itself. Buckets are listed in the order in which
    they are complete, if gradients arrive in the order of `parameters`.
    """
    complete: list[list[nn.Parameter]] = []
    open_buckets: dict[torch.dtype, list[nn.Parameter]] = {}
    for parameter in parameters:
        bucket = open_buckets.setdefault(parameter.dtype, [])
        if bucket and sum(member.nbytes for member in bucket) + parameter.nbytes > capacity_bytes:
            complete.append(bucket)
            bucket = open_buckets[parameter.dtype] = []
        bucket.append(parameter)
    arrival = {parameter: position for position, parameter in enumerate(parameters)}
    complete += open_buckets.values()
    complete.sort(key=lambda bucket: arrival[bucket[-1]])
    return [_Bucket(bucket) for bucket in complete]


# END SOLUTION


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
        # BEGIN SOLUTION
        super().__init__()
        self.module = module
        self.group = group
        self.synchronizing = True
        self.launched = 0  # how many buckets of this step are on their way
        first_rank = 0 if group is None else dist.get_global_rank(group, 0)
        broadcast_parameters(module, src=first_rank, group=group)
        self.buckets = _fill_buckets(_trainable(module)[::-1], bucket_size_mb * BYTES_PER_MB)
        self.bucket_of = {parameter: bucket for bucket in self.buckets for parameter in bucket.parameters}
        for parameter in self.bucket_of:
            # torch's method has no types.
            parameter.register_post_accumulate_grad_hook(self._gradient_ready)  # type: ignore[no-untyped-call]
        # END SOLUTION

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Run the module on this rank's rows: same arguments, same result, its own hooks included."""
        # BEGIN SOLUTION
        return self.module(*args, **kwargs)
        # END SOLUTION

    # BEGIN SOLUTION
    def _gradient_ready(self, parameter: nn.Parameter) -> None:
        """Note that backward has finished `parameter.grad`, and launch whatever has become complete."""
        if not self.synchronizing:
            return
        pending = self.bucket_of[parameter].pending
        if parameter not in pending:
            raise RuntimeError(
                "a second backward before finish_gradient_synchronization(): put all but the last one inside no_sync()"
            )
        pending.remove(parameter)
        while self.launched < len(self.buckets) and not self.buckets[self.launched].pending:
            self._launch_next_bucket()

    @torch.no_grad()
    def _launch_next_bucket(self) -> None:
        """Start the all-reduce of the next bucket in line; buckets never overtake, so that ranks' messages match."""
        bucket = self.buckets[self.launched]
        bucket.flat = _flatten_gradients(bucket.parameters)
        bucket.work = dist.all_reduce(bucket.flat, op=dist.ReduceOp.SUM, group=self.group, async_op=True)
        self.launched += 1

    # END SOLUTION

    def finish_gradient_synchronization(self) -> None:
        """Return when every gradient is the average over the ranks; the next step may begin.

        To be called by all ranks once a step, after the step's last backward and before the optimizer. Buckets that
        backward did not complete, because some of their parameters went unused, are sent now.
        """
        # BEGIN SOLUTION
        while self.launched < len(self.buckets):
            self._launch_next_bucket()
        world_size = dist.get_world_size(self.group)
        with torch.no_grad():
            for bucket in self.buckets:
                # All are launched: none of these is None.
                bucket.work.wait()  # type: ignore[union-attr]
                _unflatten_gradients(bucket.flat / world_size, bucket.parameters)  # type: ignore[arg-type, operator]
                bucket.reset()
        self.launched = 0
        # END SOLUTION

    @contextmanager
    def no_sync(self) -> Iterator[None]:
        """Let gradients add up on this rank, without messages, while the context lasts.

        For accumulation: all micro-batches of a step but the last run forward and backward in here. The last one runs
        outside, and what is averaged then is the sum of all of them.
        """
        # BEGIN SOLUTION
        before = self.synchronizing
        self.synchronizing = False
        try:
            yield
        finally:
            self.synchronizing = before
        # END SOLUTION
