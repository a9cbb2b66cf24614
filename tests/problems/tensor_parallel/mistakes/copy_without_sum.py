"""The backward of copy_to_region does not sum: x gets this rank's part of its gradient.

mistake = 34
loses = [
    "tensor_parallel.copy_to_region",
    "tensor_parallel.ColumnParallelLinear",
    "tensor_parallel.column_parallel_forward",
    "tensor_parallel.ParallelMLP",
]
says = ["all-reduce", "part of the gradient alone"]
"""


def copy_to_region(x, group=None):
    return x.view_as(x)
