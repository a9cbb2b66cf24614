# Problem 5: Pipeline parallelism. Write what raises NotImplementedError, in any order; names and arguments stay as they are.
# What is asked: assignment/pipeline_parallel.md. Where you stand: make grade ONLY=pipeline_parallel
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


def split_layers(num_layers: int, num_stages: int) -> list[range]:
    """Give every stage a contiguous run of layers, in order, as even as possible.

    Layers that do not divide go to the first stages, one each: 7 layers on 3 stages are 3, 2 and 2. With more stages
    than layers, the stages left over own an empty range.

    Returns one range of layer numbers per stage; together they are range(num_layers).
    Raises ValueError where num_layers is negative or num_stages less than 1.
    """
    raise NotImplementedError(
        "pipeline_parallel.split_layers: not written yet; "
        "see assignment/pipeline_parallel.md, section split_layers"
    )


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
    raise NotImplementedError(
        "pipeline_parallel.pipeline_forward: not written yet; "
        "see assignment/pipeline_parallel.md, section pipeline_forward"
    )


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
        raise NotImplementedError(
            "pipeline_parallel.Pipeline.__init__: not written yet; "
            "see assignment/pipeline_parallel.md, section Pipeline"
        )

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
        raise NotImplementedError(
            "pipeline_parallel.Pipeline.step: not written yet; "
            "see assignment/pipeline_parallel.md, section Pipeline"
        )
