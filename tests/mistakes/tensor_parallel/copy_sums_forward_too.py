"""copy_to_region sums forward as well: n times the activation.

mistake = 34
loses = [
    "tensor_parallel.copy_to_region",
    "tensor_parallel.ColumnParallelLinear",
    "tensor_parallel.column_parallel_forward",
    "tensor_parallel.ParallelMLP",
]
says = ["forward"]
"""


class _CopyTo(_CopyTo):
    @staticmethod
    def forward(ctx, x, group):
        ctx.group = group
        return _all_reduce(x, group)
