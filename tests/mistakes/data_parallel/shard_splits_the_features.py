"""The batch is cut along its last dimension.

loses = ["data_parallel.shard_batch"]
says = ['shape|rows']
"""


def shard_batch(batch, rank, world_size):
    if not 0 <= rank < world_size:
        raise ValueError("rank out of range")
    if isinstance(batch, tuple):
        if len({len(part) for part in batch}) > 1:
            raise ValueError("unequal lengths")
        return tuple(shard_batch(part, rank, world_size) for part in batch)
    return batch.tensor_split(world_size, dim=-1)[rank]
