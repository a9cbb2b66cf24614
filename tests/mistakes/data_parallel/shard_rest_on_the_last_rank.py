"""The last rank takes all rows that don't divide.

loses = ["data_parallel.shard_batch.uneven"]
says = ['rows']
"""


def shard_batch(batch, rank, world_size):
    if not 0 <= rank < world_size:
        raise ValueError("rank out of range")
    if isinstance(batch, tuple):
        if len({len(part) for part in batch}) > 1:
            raise ValueError("unequal lengths")
        return tuple(shard_batch(part, rank, world_size) for part in batch)
    rows = len(batch) // world_size
    end = len(batch) if rank == world_size - 1 else (rank + 1) * rows
    return batch[rank * rows : end]
