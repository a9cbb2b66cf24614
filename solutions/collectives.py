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

# BEGIN SOLUTION
from collections import deque
from collections.abc import Callable

PIECE_BYTES = 4 << 20  # pieces of this size, and this many of them under way: as fast as gloo's own all_reduce, or
WINDOW = 4  # faster; tests/benchmarks/bench_all_reduce.py measures it

COMBINE: dict[ReduceOp.RedOpType, Callable[..., Tensor]] = {
    ReduceOp.SUM: torch.add,
    ReduceOp.AVG: torch.add,  # divided by n once, at the end
    ReduceOp.PRODUCT: torch.mul,
    ReduceOp.MIN: torch.minimum,
    ReduceOp.MAX: torch.maximum,
}


def _combiner(op: ReduceOp.RedOpType, dtype: torch.dtype) -> Callable[..., Tensor]:
    """The torch function of two tensors that `op` stands for."""
    if op not in COMBINE:
        raise ValueError(f"op must be SUM, PRODUCT, MIN, MAX or AVG, not {op}")
    if op == ReduceOp.AVG and not dtype.is_floating_point:
        raise ValueError(f"AVG needs a floating dtype, not {dtype}")
    return COMBINE[op]


def _root(global_rank: int, group: ProcessGroup | None) -> int:
    """The rank within `group` of a global rank."""
    return dist.get_group_rank(group or dist.group.WORLD, global_rank)  # type: ignore[arg-type]  # WORLD is there


def _flat(tensor: Tensor) -> Tensor:
    """The elements in one contiguous row, as messages need them: a view where that is possible, else a copy."""
    return tensor.detach().contiguous().view(-1)


def _write_back(flat: Tensor, tensor: Tensor) -> None:
    """Put into `tensor` what was received into `_flat(tensor)`, if that was a copy."""
    if not tensor.is_contiguous():
        tensor.detach().copy_(flat.view(tensor.shape))


def _start(sends: dict[int, Tensor], receives: dict[int, Tensor], group: ProcessGroup | None) -> list[dist.Work]:
    """Start all these messages at once; the keys are ranks within the group. Both ends leave out empty messages."""
    messages = [
        dist.P2POp(operation, tensor, group=group, group_peer=peer)
        for operation, tensors in ((dist.isend, sends), (dist.irecv, receives))
        for peer, tensor in tensors.items()
        if tensor.numel() > 0
    ]
    return dist.batch_isend_irecv(messages) if messages else []


def _wait(works: list[dist.Work]) -> None:
    for work in works:
        work.wait()


def _exchange(sends: dict[int, Tensor], receives: dict[int, Tensor], group: ProcessGroup | None) -> None:
    """Send and receive all these messages at once, and return when they are done."""
    _wait(_start(sends, receives, group))


def _ring(
    chunks: tuple[Tensor, ...],
    first: int,
    group: ProcessGroup | None,
    combine: Callable[..., Tensor] | None = None,
) -> None:
    """Pass n chunks round the ring in n-1 steps, from each rank to the next one.

    In step s a rank sends chunk `first - s` and receives chunk `first - s - 1`, which is the one it sends in step s+1.
    What arrives is combined with the rank's own chunk, or replaces it if `combine` is None.

    Large chunks travel in pieces, `window` of them under way at a time: while one is combined, the next ones move.
    """
    rank, n = dist.get_rank(group), dist.get_world_size(group)
    count = 1 + chunks[0].nbytes // PIECE_BYTES  # pieces a chunk; chunk 0 is as large as any
    window = min(WINDOW, count)  # not more: piece k has to be here before it leaves again in the next step
    pieces = [chunk.tensor_split(count) for chunk in chunks]
    landing = [torch.empty_like(pieces[0][0]) for _ in range(window)]
    schedule = [(step, k) for step in range(n - 1) for k in range(count)]
    under_way: deque[tuple[list[dist.Work], Tensor, Tensor]] = deque()

    for i in range(len(schedule) + window):
        if i >= window:
            works, own, landed = under_way.popleft()
            _wait(works)
            if combine:
                combine(own, landed, out=own)
        if i < len(schedule):
            step, k = schedule[i]
            outgoing, own = pieces[(first - step) % n][k], pieces[(first - step - 1) % n][k]
            landed = landing[i % window][: own.numel()] if combine else own
            works = _start({(rank + 1) % n: outgoing}, {(rank - 1) % n: landed}, group)
            under_way.append((works, own, landed))


# END SOLUTION


def broadcast(tensor: Tensor, src: int, group: ProcessGroup | None = None) -> None:
    """Copy the tensor of rank `src` into the tensor of every rank.

    Args:
        tensor: any shape and dtype, the same on every rank. Read on `src`, overwritten on all others.
        src: global rank of the root.
        group: the ranks that take part.

    Cost: every rank but `src` receives the tensor once, no rank sends it more than ceil(log2 n) times, and the last
    rank has it after ceil(log2 n) steps.
    """
    # BEGIN SOLUTION
    # A binomial tree: after each step twice as many ranks have the tensor. Places are ranks counted from the root.
    n, root = dist.get_world_size(group), _root(src, group)
    place = (dist.get_rank(group) - root) % n
    flat = _flat(tensor)
    have = 1  # places 0..have-1 have the tensor
    while have < n:
        if place < have and place + have < n:
            dist.send(flat, group_dst=(place + have + root) % n, group=group)
        elif have <= place < 2 * have:
            dist.recv(flat, group_src=(place - have + root) % n, group=group)
            _write_back(flat, tensor)
        have *= 2
    # END SOLUTION


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
    # BEGIN SOLUTION
    rank, root = dist.get_rank(group), _root(src, group)
    if rank == root:
        # The root has a list, whatever mypy fears.
        tensor.detach().copy_(scatter_list[root])  # type: ignore[index]
        _exchange(
            {peer: _flat(part) for peer, part in enumerate(scatter_list) if peer != root},  # type: ignore[arg-type]
            {},
            group,
        )
    else:
        flat = _flat(tensor)
        _exchange({}, {root: flat}, group)
        _write_back(flat, tensor)
    # END SOLUTION


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
    # BEGIN SOLUTION
    rank, root = dist.get_rank(group), _root(dst, group)
    if rank == root:
        # The root has a list, whatever mypy fears.
        gather_list[root].detach().copy_(tensor)  # type: ignore[index]
        flats = {peer: _flat(part) for peer, part in enumerate(gather_list) if peer != root}  # type: ignore[arg-type]
        _exchange({}, flats, group)
        for peer, flat in flats.items():
            _write_back(flat, gather_list[peer])  # type: ignore[index]
    else:
        _exchange({root: _flat(tensor)}, {}, group)
    # END SOLUTION


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
    # BEGIN SOLUTION
    # The tree of `broadcast` upside down: in each step every second one of the remaining places hands its partial
    # result to a lower one, and is done.
    combine = _combiner(op, tensor.dtype)
    n, root = dist.get_world_size(group), _root(dst, group)
    place = (dist.get_rank(group) - root) % n
    partial = _flat(tensor).clone()
    landed = torch.empty_like(partial)
    distance = 1
    while distance < n and place % distance == 0:
        if place % (2 * distance) == distance:
            dist.send(partial, group_dst=(place - distance + root) % n, group=group)
        elif place + distance < n:
            dist.recv(landed, group_src=(place + distance + root) % n, group=group)
            combine(partial, landed, out=partial)
        distance *= 2
    if place == 0:
        if op == ReduceOp.AVG:
            partial /= n
        tensor.detach().copy_(partial.view(tensor.shape))
    # END SOLUTION


def all_gather(output: Tensor, input: Tensor, group: ProcessGroup | None = None) -> None:
    """Collect the tensors of all ranks on every rank.

    Args:
        output: all inputs concatenated along dimension 0 in the order of the ranks in the group; of shape (n * d0, ...)
            for inputs of shape (d0, ...), and (n,) for 0-dimensional ones. Overwritten.
        input: the rank's own part, of any shape and dtype, the same on every rank. Unharmed.
        group: the ranks that take part.

    Cost: each rank sends (n-1)/n of the output.
    """
    # BEGIN SOLUTION
    rank, n = dist.get_rank(group), dist.get_world_size(group)
    flat = _flat(output)
    blocks = flat.tensor_split(n)
    blocks[rank].copy_(_flat(input))
    _ring(blocks, rank, group)
    _write_back(flat, output)
    # END SOLUTION


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
    # BEGIN SOLUTION
    combine = _combiner(op, input.dtype)
    rank, n = dist.get_rank(group), dist.get_world_size(group)
    blocks = _flat(input).clone().tensor_split(n)
    _ring(blocks, rank - 1, group, combine)  # begins one early, so that the last block to arrive is the rank's own
    if op == ReduceOp.AVG:
        blocks[rank].div_(n)
    output.detach().copy_(blocks[rank].view(output.shape))
    # END SOLUTION


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
    # BEGIN SOLUTION
    # A reduce-scatter, after which rank r has chunk r+1 of the result, and an all-gather of the chunks.
    combine = _combiner(op, tensor.dtype)
    rank, n = dist.get_rank(group), dist.get_world_size(group)
    flat = _flat(tensor)
    chunks = flat.tensor_split(n)
    _ring(chunks, rank, group, combine)
    if op == ReduceOp.AVG:
        chunks[(rank + 1) % n].div_(n)
    _ring(chunks, rank + 1, group)
    _write_back(flat, tensor)
    # END SOLUTION


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
    # BEGIN SOLUTION
    rank, n = dist.get_rank(group), dist.get_world_size(group)

    def blocks(tensor: Tensor, sizes: list[int] | None) -> dict[int, Tensor]:
        # torch's split has no types.
        parts = tensor.tensor_split(n) if sizes is None else tensor.split(sizes)  # type: ignore[no-untyped-call]
        return dict(enumerate(parts))

    landed = output.detach().contiguous()
    sends = blocks(input.detach().contiguous(), input_split_sizes)
    receives = blocks(landed, output_split_sizes)
    receives.pop(rank).copy_(sends.pop(rank))
    _exchange(sends, receives, group)
    _write_back(landed, output)
    # END SOLUTION
