"""The backward of reduce_from_region is an all-reduce again: n times too large.

mistake = 34
loses = [
    "tensor_parallel.reduce_from_region",
    "tensor_parallel.RowParallelLinear",
    "tensor_parallel.ParallelMLP",
]
says = [". times too large"]
"""


class _ReduceFrom(_ReduceFrom):
    @staticmethod
    def forward(ctx, x, group):
        ctx.group = group
        return _all_reduce(x, group)

    @staticmethod
    def backward(ctx, grad):
        return _all_reduce(grad, ctx.group), None
