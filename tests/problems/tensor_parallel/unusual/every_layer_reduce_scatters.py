"""The lecture's network reduce-scatters after its last layer too, an n-th of the gradient from each rank.

may_lose = ["tensor_parallel.column_parallel_forward.traffic"]
"""


class _Divide(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, by):
        ctx.by = by
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad):
        return grad / ctx.by, None


def column_parallel_forward(x, weights, group=None):
    x = copy_to_region(x, group)
    for weight in weights:
        x = all_gather_from_region(F.gelu(x @ weight), group)
    return _Divide.apply(x, dist.get_world_size(group))
