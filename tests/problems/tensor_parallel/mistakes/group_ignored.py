"""reduce_from_region sums over the whole world, whatever the group.

loses = [
    "tensor_parallel.reduce_from_region",
    "tensor_parallel.RowParallelLinear",
    "tensor_parallel.ParallelMLP",
]
says = ["groups \\\\[0, [23]\\\\]", "a group of some ranks"]
"""


def reduce_from_region(x, group=None):
    return _ReduceFrom.apply(x, None)
