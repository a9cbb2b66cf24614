"""Leaves the backward to torch's collectives that come with one.

loses = [
    "tensor_parallel.reduce_from_region",
    "tensor_parallel.RowParallelLinear",
    "tensor_parallel.ParallelMLP",
]
says = ["all_reduce is not allowed"]
"""


def reduce_from_region(x, group=None):
    from torch.distributed.nn.functional import all_reduce

    return all_reduce(x.clone(), group=group if group is not None else dist.group.WORLD)
