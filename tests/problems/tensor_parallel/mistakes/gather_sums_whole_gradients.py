"""The backward of gather_from_region sums n equal gradients: n times too large.

mistake = 34
loses = [
    "tensor_parallel.gather_from_region",
    "tensor_parallel.ColumnParallelLinear",
    "tensor_parallel.column_parallel_forward",
]
says = [". times too large"]
"""


class _GatherFrom(_GatherFrom):
    @staticmethod
    def backward(ctx, grad):
        return _reduce_scatter(grad, ctx.group), None
