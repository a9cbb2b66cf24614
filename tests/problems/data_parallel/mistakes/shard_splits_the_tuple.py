"""A tuple of tensors is itself cut into pieces.

loses = ["data_parallel.shard_batch"]
says = ['tuple']
"""


def shard_batch(batch, rank, world_size):
    if not 0 <= rank < world_size:
        raise ValueError("rank out of range")
    rows, rest = divmod(len(batch), world_size)
    start = rank * rows + min(rank, rest)
    return batch[start : start + rows + (rank < rest)]
