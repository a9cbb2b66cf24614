"""Views the gradient as flat memory, which one that is not contiguous cannot be.

mistake = 35
loses = [
    "tensor_parallel.copy_to_region",
    "tensor_parallel.ColumnParallelLinear",
    "tensor_parallel.column_parallel_forward",
    "tensor_parallel.ParallelMLP",
]
says = ["contiguous"]
"""


class _CopyTo(_CopyTo):
    @staticmethod
    def backward(ctx, grad):
        flat = grad.view(-1).clone()
        dist.all_reduce(flat, group=ctx.group)
        return flat.view(grad.shape), None
