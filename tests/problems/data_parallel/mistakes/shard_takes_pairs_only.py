"""A tuple is taken for a pair of inputs and targets.

loses = ["data_parallel.shard_batch"]
says = ["unpack"]
"""

_shard_as_it_should_be = shard_batch


def shard_batch(batch, rank, world_size):
    if isinstance(batch, tuple):
        inputs, targets = batch
        if len(inputs) != len(targets):
            raise ValueError("lengths differ")
        return _shard_as_it_should_be(inputs, rank, world_size), _shard_as_it_should_be(targets, rank, world_size)
    return _shard_as_it_should_be(batch, rank, world_size)
