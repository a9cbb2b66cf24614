"""A rank out of range gets some other rank's rows.

loses = ["data_parallel.shard_batch"]
says = ['ValueError']
"""


def shard_batch(batch, rank, world_size):
    if isinstance(batch, tuple):
        if len({len(part) for part in batch}) > 1:
            raise ValueError("unequal lengths")
        return tuple(shard_batch(part, rank, world_size) for part in batch)
    return batch.tensor_split(world_size)[rank % world_size]
