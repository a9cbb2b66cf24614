"""Problem 5, pipeline parallelism: cut the depth of a network and keep every stage busy.

The network is cut into stages, each a run of neighbouring layers, one stage a rank. A batch is cut into micro-batches
that follow each other through the stages: activations go forward from stage to stage, gradients come back.
Everything here is built from point-to-point messages between neighbours; no collective is called.

    split_layers       which layers each stage owns
    pipeline_forward   the forward pass over micro-batches, as in the lecture
    Pipeline           forward and backward of a batch, under the schedules "gpipe" and "1f1b"

The stage of a rank is its rank in the group: rank 0 of the group is the first stage, the last rank the last stage.
Peers of send and recv are global ranks, as in torch.distributed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
import torch.distributed as dist
from torch import Tensor, nn

# BEGIN SOLUTION
from typing import Any

Action = tuple[str, int]  # ("forward" or "backward", micro-batch)


def _neighbours(group: dist.ProcessGroup | None) -> tuple[int | None, int | None]:
    """The global ranks of the stages before and after this one; None where there is none."""
    ranks = dist.get_process_group_ranks(group)
    stage = dist.get_rank(group)
    return ranks[stage - 1] if stage > 0 else None, ranks[stage + 1] if stage + 1 < len(ranks) else None


# END SOLUTION


def split_layers(num_layers: int, num_stages: int) -> list[range]:
    """Give every stage a contiguous run of layers, in order, as even as possible.

    Layers that do not divide go to the first stages, one each: 7 layers on 3 stages are 3, 2 and 2. With more stages
    than layers, the stages left over own an empty range.

    Returns one range of layer numbers per stage; together they are range(num_layers).
    Raises ValueError where num_layers is negative or num_stages less than 1.
    """
    # BEGIN SOLUTION
    if num_layers < 0 or num_stages < 1:
        raise ValueError(f"cannot split {num_layers} layers over {num_stages} stages")
    layers, extra = divmod(num_layers, num_stages)
    starts = [stage * layers + min(stage, extra) for stage in range(num_stages + 1)]
    return [range(start, stop) for start, stop in zip(starts, starts[1:])]
    # END SOLUTION


def pipeline_forward(
    stage: nn.Module, micro_batches: Sequence[Tensor], group: dist.ProcessGroup | None = None
) -> list[Tensor] | None:
    """Run micro-batches through all stages, the lecture's loop; no gradients are recorded.

    stage: this rank's layers, called as stage(x) once for each micro-batch, in order.
    micro_batches: on the first stage the inputs, of any dtype, which stay as they are. On every other stage contiguous
        buffers, as many as the first stage has inputs, with the shape and dtype of what the stage before sends for
        each; they are received into. Micro-batches may differ in their number of rows.

    Returns the outputs of the last stage, one per micro-batch; None on every other rank.
    A stage starts on a micro-batch as soon as it has arrived: while one stage works on micro-batch i, the stage before
    it works on micro-batch i + 1. One message per micro-batch and boundary.
    """
    # BEGIN SOLUTION
    before, after = _neighbours(group)
    outputs = []
    for x in micro_batches:
        if before is not None:
            dist.recv(x, src=before, group=group)
        with torch.no_grad():
            y = stage(x)
        if after is None:
            outputs.append(y)
        else:
            dist.send(y.contiguous(), dst=after, group=group)
    return outputs if after is None else None
    # END SOLUTION


# BEGIN SOLUTION
def _gpipe(stage: int, num_stages: int, num_micro_batches: int) -> list[Action]:
    """All forwards, then all backwards; the same on every stage."""
    micro_batches = range(num_micro_batches)
    return [("forward", i) for i in micro_batches] + [("backward", i) for i in micro_batches]


def _one_f_one_b(stage: int, num_stages: int, num_micro_batches: int) -> list[Action]:
    """As many forwards as there are stages still ahead, then one forward and one backward in turn, then the rest.

    Source: PipeDream-Flush (Narayanan et al. 2021), the schedule of Megatron-LM.
    """
    warm_up = min(num_stages - stage - 1, num_micro_batches)
    steady = num_micro_batches - warm_up
    actions = [("forward", i) for i in range(warm_up)]
    for i in range(steady):
        actions += [("forward", warm_up + i), ("backward", i)]
    return actions + [("backward", i) for i in range(steady, num_micro_batches)]


def _exchange(
    sends: list[tuple[Tensor, int]], receives: list[tuple[Tensor, int]], group: dist.ProcessGroup | None
) -> None:
    """Send and receive (tensor, peer) pairs, all under way together, and wait for all of them.

    In 1f1b two neighbours have something for each other at the same moment. One batch lets the two messages pass each
    other, also where a send waits for its recv and where one connection does one thing at a time (NCCL).
    """
    operations = [dist.P2POp(dist.isend, tensor, peer, group) for tensor, peer in sends]
    operations += [dist.P2POp(dist.irecv, tensor, peer, group) for tensor, peer in receives]
    if operations:
        for work in dist.batch_isend_irecv(operations):
            work.wait()


class _Step:
    """One batch on its way through this rank's stage."""

    def __init__(self, pipeline: Pipeline, batch_size: int, inputs: Tensor | None, targets: Tensor | None) -> None:
        self.pipeline = pipeline
        self.batch_size = batch_size
        self.before, self.after = _neighbours(pipeline.group)
        rows, extra = divmod(batch_size, pipeline.num_micro_batches)
        self.rows = [rows + (i < extra) for i in range(pipeline.num_micro_batches)]
        # The first stage has inputs and the last one targets, whatever mypy fears.
        self.inputs = inputs.split(self.rows) if self.before is None else None  # type: ignore[union-attr]
        self.targets = targets.split(self.rows) if self.after is None else None  # type: ignore[union-attr]
        self.in_flight: dict[int, tuple[Tensor, Tensor]] = {}  # micro-batch: its input, and its output or loss
        self.loss: Tensor | None = None

    def receives(self, kind: str, i: int) -> list[tuple[Tensor, int]]:
        """The buffer for what the action on micro-batch i needs, and from whom; empty where it needs nothing."""
        if kind == "forward" and self.before is not None:
            like: Any = self.pipeline.example_input
            return [(like.new_empty((self.rows[i], *like.shape[1:])), self.before)]
        if kind == "backward" and self.after is not None:
            _, y = self.in_flight[i]
            return [(y.new_empty(y.shape), self.after)]
        return []

    def forward(self, i: int, received: Tensor | None) -> list[tuple[Tensor, int]]:
        """Run the stage on micro-batch i; what has to be sent, and to whom."""
        # The first stage has inputs, and the others have received something.
        x = self.inputs[i] if self.before is None else received.requires_grad_()  # type: ignore[index, union-attr]
        y = self.pipeline.stage(x)
        if self.after is not None:
            self.in_flight[i] = x, y
            return [(y.detach().contiguous(), self.after)]
        # A mean over the batch is the mean of the micro-batches' means, each weighted by its share of the rows.
        # The last stage has targets and a loss function.
        loss = self.pipeline.loss_fn(y, self.targets[i]) * (self.rows[i] / self.batch_size)  # type: ignore[index, misc]
        self.loss = loss.detach() if self.loss is None else self.loss + loss.detach()
        self.in_flight[i] = x, loss
        return []

    def backward(self, i: int, received: Tensor | None) -> list[tuple[Tensor, int]]:
        """Run micro-batch i backward and let go of it; what has to be sent, and to whom."""
        x, y = self.in_flight.pop(i)
        if y.requires_grad:  # not so where nothing up to here can be trained
            y.backward(received)  # type: ignore[no-untyped-call]  # torch's own
        if self.before is None:
            return []
        return [(torch.zeros_like(x) if x.grad is None else x.grad.contiguous(), self.before)]


# END SOLUTION


class Pipeline:
    """Trains one stage of a network whose other stages are on the other ranks of the group.

    stage: this rank's layers; floating-point activations with the batch in dimension 0 go in and come out. The first
        stage's input may be of any dtype (token ids), and its output need not have a gradient: all of its parameters
        may be frozen, or it may have none.
    loss_fn: loss_fn(output, target) is a scalar, the mean over the rows it is given. Called on the last stage only.
    num_micro_batches: M, the number of micro-batches that a batch is cut into along dimension 0. Rows that do not
        divide go to the first micro-batches, one each: 7 rows in 3 micro-batches are 3, 2 and 2.
    schedule: "gpipe" runs all forwards and then all backwards: up to M micro-batches are in flight (their forward done
        on this stage, their backward not). "1f1b" starts with min(stages - stage - 1, M) forwards, then runs one
        forward and one backward in turn, and ends with the backwards left: never more than stages - stage in flight.
    example_input: on every stage but the first, a tensor like those the stage before sends: same dtype, device and
        shape, though any number of rows in dimension 0 will do. Only its form is used, not its values.
    group: its ranks are the stages, in order.

    Raises ValueError for a schedule of another name, and where num_micro_batches is less than 1.
    """

    def __init__(
        self,
        stage: nn.Module,
        loss_fn: Callable[[Tensor, Tensor], Tensor] | None,
        num_micro_batches: int,
        schedule: str = "gpipe",
        example_input: Tensor | None = None,
        group: dist.ProcessGroup | None = None,
    ) -> None:
        # BEGIN SOLUTION
        if schedule not in ("gpipe", "1f1b"):
            raise ValueError(f"schedule is 'gpipe' or '1f1b', not {schedule!r}")
        if num_micro_batches < 1:
            raise ValueError(f"a batch is cut into at least 1 micro-batch, not {num_micro_batches}")
        self.stage = stage
        self.loss_fn = loss_fn
        self.num_micro_batches = num_micro_batches
        self.schedule = schedule
        self.example_input = example_input
        self.group = group
        # END SOLUTION

    def step(self, batch_size: int, inputs: Tensor | None = None, targets: Tensor | None = None) -> Tensor | None:
        """Run a batch forward and backward; every stage's parameters then have the gradients of the whole-batch loss.

        Called on all ranks. batch_size: rows of the whole batch, the same number on every rank. inputs: the batch, on
        the first stage. targets: what loss_fn compares with, batch_size rows, on the last stage.

        Adds to the parameters' .grad, as backward does; zeroing them and stepping the optimizer is the caller's.
        Calls stage(x) once per micro-batch; on each boundary one activation goes forward and one gradient comes back
        per micro-batch. When step returns, nothing is in flight any more.

        Returns the loss of the whole batch on the last stage, a scalar without a gradient; None on every other rank.
        Raises ValueError, on every rank, where batch_size is less than num_micro_batches.
        """
        # BEGIN SOLUTION
        if batch_size < self.num_micro_batches:
            raise ValueError(f"{batch_size} rows cannot fill {self.num_micro_batches} micro-batches")
        order = _gpipe if self.schedule == "gpipe" else _one_f_one_b
        actions = order(dist.get_rank(self.group), dist.get_world_size(self.group), self.num_micro_batches)
        step = _Step(self, batch_size, inputs, targets)

        # Between two actions, one exchange: what the last one made goes out, what the next one needs comes in.
        sends: list[tuple[Tensor, int]] = []
        for kind, i in actions:
            receives = step.receives(kind, i)
            _exchange(sends, receives, self.group)
            received = receives[0][0] if receives else None
            sends = step.forward(i, received) if kind == "forward" else step.backward(i, received)
        _exchange(sends, [], self.group)
        return step.loss
        # END SOLUTION
