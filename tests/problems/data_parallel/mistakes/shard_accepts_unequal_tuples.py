"""Inputs and targets of different lengths are split without a word.

loses = ["data_parallel.shard_batch"]
says = ['ValueError']
"""


def shard_batch(batch, rank, world_size):
    if not 0 <= rank < world_size:
        raise ValueError("rank out of range")
    if isinstance(batch, tuple):
        return tuple(shard_batch(part, rank, world_size) for part in batch)
    return batch.tensor_split(world_size)[rank]
