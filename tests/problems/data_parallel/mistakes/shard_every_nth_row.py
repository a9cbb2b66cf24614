"""Rows are dealt out like cards instead of in consecutive runs.

loses = ["data_parallel.shard_batch"]
says = ['consecutive']
"""


def shard_batch(batch, rank, world_size):
    if not 0 <= rank < world_size:
        raise ValueError("rank out of range")
    if isinstance(batch, tuple):
        if len({len(part) for part in batch}) > 1:
            raise ValueError("unequal lengths")
        return tuple(shard_batch(part, rank, world_size) for part in batch)
    return batch[rank::world_size]
