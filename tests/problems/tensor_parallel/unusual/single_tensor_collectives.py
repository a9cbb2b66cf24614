"""Gathers into one tensor with the slices in front, and moves them to the end; setup_context style.

may_lose = []
"""


_gather_single = getattr(dist, "all_gather_single", None) or dist.all_gather_into_tensor
_scatter_single = getattr(dist, "reduce_scatter_single", None) or dist.reduce_scatter_tensor


def _all_gather(x, group):
    front = x.movedim(-1, 0).contiguous()
    out = front.new_empty(front.shape[0] * dist.get_world_size(group), *front.shape[1:])
    _gather_single(out, front, group=group)
    return out.movedim(0, -1)


def _reduce_scatter(x, group):
    front = x.movedim(-1, 0).contiguous()
    out = front.new_empty(front.shape[0] // dist.get_world_size(group), *front.shape[1:])
    _scatter_single(out, front, group=group)
    return out.movedim(0, -1)


class _AllGatherFrom(torch.autograd.Function):
    @staticmethod
    def forward(x, group):
        return _all_gather(x, group)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.group = inputs[1]

    @staticmethod
    def backward(ctx, grad):
        return _reduce_scatter(grad, ctx.group), None
