"""Columns that the ranks cannot share are dropped without a word.

loses = [
    "tensor_parallel.ColumnParallelLinear.shards",
    "tensor_parallel.RowParallelLinear.shards",
    "tensor_parallel.scatter_to_region",
]
says = ["ValueError"]
"""


def _share(size, group, what):
    return size // dist.get_world_size(group)
