"""Picks its slice by its rank in the world, not in the group.

loses = [
    "tensor_parallel.gather_from_region",
    "tensor_parallel.scatter_to_region",
    "tensor_parallel.ColumnParallelLinear",
    "tensor_parallel.RowParallelLinear",
    "tensor_parallel.column_parallel_forward",
]
says = ["groups \\\\[0, [23]\\\\]", "a group of some ranks"]
"""


def _own_slice(x, group):
    share = _share(x.shape[-1], group, "the last dimension")
    rank = dist.get_rank() % dist.get_world_size(group)
    return x.narrow(-1, rank * share, share).contiguous()
