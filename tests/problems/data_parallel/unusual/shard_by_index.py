"""Rows are picked by a list of indices, which copies them; what is refused is refused by an exception of its own.

may_lose = []
"""


class Misfit(ValueError):
    """What cannot be shared."""


def shard_batch(batch, rank, world_size):
    tensors = batch if isinstance(batch, tuple) else (batch,)
    rows = tensors[0].shape[0]
    if rank not in range(world_size):
        raise Misfit("no such rank")
    if any(tensor.shape[0] != rows for tensor in tensors):
        raise Misfit("tensors of different lengths")
    owner = [-1] * rows
    position = 0
    for candidate in range(world_size):
        for _ in range(-((candidate - rows) // world_size)):
            owner[position] = candidate
            position += 1
    mine = torch.tensor([row for row in range(rows) if owner[row] == rank], dtype=torch.int64)
    shards = tuple(tensor.index_select(0, mine) for tensor in tensors)
    return shards if isinstance(batch, tuple) else shards[0]
