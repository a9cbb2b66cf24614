"""Views the gradient as rows of memory, which one that is not contiguous cannot be.

mistake = 35
loses = [
    "tensor_parallel.gather_from_region",
    "tensor_parallel.ColumnParallelLinear",
    "tensor_parallel.column_parallel_forward",
]
says = ["not contiguous"]
"""


class _GatherFrom(_GatherFrom):
    @staticmethod
    def backward(ctx, grad):
        world_size, rank = dist.get_world_size(ctx.group), dist.get_rank(ctx.group)
        slices = grad.view(-1, world_size, grad.shape[-1] // world_size)
        return slices[:, rank].reshape(*grad.shape[:-1], -1), None
