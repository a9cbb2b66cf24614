# Problem 1: Collectives from point-to-point messages. Write what raises NotImplementedError, in any order; names and arguments stay as they are.
# What is asked: assignment/collectives.md. Where you stand: make grade ONLY=collectives
"""Problem 1: the collectives, built from point-to-point messages alone.

Everything here is made of `send`, `recv`, `isend`, `irecv` and `batch_isend_irecv`: no built-in collective, no barrier.
The chapter is assignment/collectives.md.

What holds for all eight functions:

- Every rank of `group` calls the function, and no other rank does. `group=None` is the whole world.
- `src` and `dst` are global ranks, as in torch.distributed; a group's ranks need not be 0..n-1.
- Results are written into the tensors that were passed in; nothing is returned. Whatever the docstring does not say is
  written keeps its values.
- Tensors are on CPU or CUDA, of any dtype that torch can move (and, for a reduction, combine). They may be empty,
  0-dimensional, non-contiguous, smaller than the group, or of a size that n does not divide.
- n below stands for the number of ranks in the group. A group of one sends nothing.
- Reductions take the ops SUM, PRODUCT, MIN, MAX, and for floating dtypes AVG. Results keep the tensor's dtype.
"""

import torch
import torch.distributed as dist
from torch import Tensor
from torch.distributed import ProcessGroup, ReduceOp


def broadcast(tensor: Tensor, src: int, group: ProcessGroup | None = None) -> None:
    """Copy the tensor of rank `src` into the tensor of every rank.

    Args:
        tensor: any shape and dtype, the same on every rank. Read on `src`, overwritten on all others.
        src: global rank of the root.
        group: the ranks that take part.

    Cost: every rank but `src` receives the tensor once, no rank sends it more than ceil(log2 n) times, and the last
    rank has it after ceil(log2 n) steps.
    """
    raise NotImplementedError(
        "collectives.broadcast: not written yet; "
        "see assignment/collectives.md, section broadcast"
    )


def scatter(
    tensor: Tensor, scatter_list: list[Tensor] | None = None, src: int = 0, group: ProcessGroup | None = None
) -> None:
    """Give each rank its tensor out of the list that rank `src` holds.

    Args:
        tensor: where the rank's own part is written, on `src` too. Any shape and dtype, the same on every rank.
        scatter_list: on `src`, n tensors like `tensor`, in the order of the ranks in the group; None elsewhere.
            Unharmed.
        src: global rank of the root.
        group: the ranks that take part.

    Cost: `src` sends each other rank its part and nothing more, (n-1)/n of the list; the others send nothing.
    """
    raise NotImplementedError("collectives.scatter: not written yet; see assignment/collectives.md, section scatter")


def gather(
    tensor: Tensor, gather_list: list[Tensor] | None = None, dst: int = 0, group: ProcessGroup | None = None
) -> None:
    """Collect the tensors of all ranks in the list that rank `dst` holds.

    Args:
        tensor: the rank's own part, of any shape and dtype, the same on every rank. Unharmed.
        gather_list: on `dst`, n tensors like `tensor`, which are overwritten in the order of the ranks in the group,
            with `dst`'s own part too; None elsewhere.
        dst: global rank of the root.
        group: the ranks that take part.

    Cost: every rank but `dst` sends its tensor once and nothing more; `dst` sends nothing.
    """
    raise NotImplementedError("collectives.gather: not written yet; see assignment/collectives.md, section gather")


def reduce(tensor: Tensor, dst: int, op: ReduceOp.RedOpType = ReduceOp.SUM, group: ProcessGroup | None = None) -> None:
    """Combine the tensors of all ranks, element by element, into the tensor of rank `dst`.

    Args:
        tensor: any shape and dtype, the same on every rank. Overwritten on `dst`; the other ranks' tensors keep their
            values (torch's own `reduce` makes no such promise).
        dst: global rank of the root.
        op: SUM, PRODUCT, MIN, MAX, or AVG, the sum divided by n.
        group: the ranks that take part.

    Raises:
        ValueError: AVG of a tensor that is not floating, before anything is sent.

    Cost: every rank but `dst` sends one tensor's worth of bytes, and `dst` nothing; the result is there after
    ceil(log2 n) steps.
    """
    raise NotImplementedError("collectives.reduce: not written yet; see assignment/collectives.md, section reduce")


def all_gather(output: Tensor, input: Tensor, group: ProcessGroup | None = None) -> None:
    """Collect the tensors of all ranks on every rank.

    Args:
        output: all inputs concatenated along dimension 0 in the order of the ranks in the group; of shape (n * d0, ...)
            for inputs of shape (d0, ...), and (n,) for 0-dimensional ones. Overwritten.
        input: the rank's own part, of any shape and dtype, the same on every rank. Unharmed.
        group: the ranks that take part.

    Cost: each rank sends (n-1)/n of the output.
    """
    raise NotImplementedError(
        "collectives.all_gather: not written yet; "
        "see assignment/collectives.md, section all_gather"
    )


def reduce_scatter(
    output: Tensor, input: Tensor, op: ReduceOp.RedOpType = ReduceOp.SUM, group: ProcessGroup | None = None
) -> None:
    """Combine the tensors of all ranks, element by element, and give each rank its block of the result.

    Args:
        output: the rank's block: the rank in the group says which. Any shape and dtype, the same on every rank.
            Overwritten.
        input: n blocks of output's shape, concatenated along dimension 0: of shape (n * d0, ...) for an output of shape
            (d0, ...), and (n,) for a 0-dimensional one. Unharmed.
        op: SUM, PRODUCT, MIN, MAX, or AVG, the sum divided by n.
        group: the ranks that take part.

    Raises:
        ValueError: AVG of a tensor that is not floating, before anything is sent.

    Cost: each rank sends (n-1)/n of the input.
    """
    raise NotImplementedError(
        "collectives.reduce_scatter: not written yet; "
        "see assignment/collectives.md, section reduce_scatter"
    )


def all_reduce(tensor: Tensor, op: ReduceOp.RedOpType = ReduceOp.SUM, group: ProcessGroup | None = None) -> None:
    """Combine the tensors of all ranks, element by element, and leave the result on every rank.

    All ranks end with the same bits: models that are updated with these values must not drift apart.

    Args:
        tensor: any shape and dtype, the same on every rank. Overwritten.
        op: SUM, PRODUCT, MIN, MAX, or AVG, the sum divided by n.
        group: the ranks that take part.

    Raises:
        ValueError: AVG of a tensor that is not floating, before anything is sent.

    Cost: each rank sends 2(n-1)/n of the tensor, plus at most one element a message where n does not divide it.
    """
    raise NotImplementedError(
        "collectives.all_reduce: not written yet; "
        "see assignment/collectives.md, section all_reduce"
    )


def all_to_all(
    output: Tensor,
    input: Tensor,
    output_split_sizes: list[int] | None = None,
    input_split_sizes: list[int] | None = None,
    group: ProcessGroup | None = None,
) -> None:
    """Send block j of the input to rank j, and put the block that comes from rank i in place i of the output.

    Args:
        output: the received blocks, concatenated along dimension 0 in the order of the ranks in the group. Overwritten.
        input: the blocks to send, likewise concatenated. At least 1-dimensional; any dtype, the same on every rank.
            Unharmed.
        output_split_sizes: rows of the block from each rank, n numbers that add up to output's dimension 0.
            None: n equal blocks.
        input_split_sizes: rows of the block for each rank, n numbers that add up to input's dimension 0.
            None: n equal blocks.
        group: the ranks that take part.

    Cost: each rank sends every block but its own, once: (n-1)/n of the input when the blocks are equal.
    """
    raise NotImplementedError(
        "collectives.all_to_all: not written yet; "
        "see assignment/collectives.md, section all_to_all"
    )
