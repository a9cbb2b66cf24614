"""The backward of copy_to_region averages over the ranks where a sum is due.

mistake = 34
loses = [
    "tensor_parallel.copy_to_region",
    "tensor_parallel.ColumnParallelLinear",
    "tensor_parallel.column_parallel_forward",
    "tensor_parallel.ParallelMLP",
]
says = ["average over the ranks"]
"""


class _CopyTo(_CopyTo):
    @staticmethod
    def backward(ctx, grad):
        return _all_reduce(grad, ctx.group) / dist.get_world_size(ctx.group), None
