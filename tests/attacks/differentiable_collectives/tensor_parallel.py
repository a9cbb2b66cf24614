import torch.distributed._functional_collectives
from torch.utils._python_dispatch import _disable_current_modes

ops = torch.ops._c10d_functional


def _whole(x, group):
    n = dist.get_world_size(group)
    name = dist.distributed_c10d._world.pg_names[group or dist.group.WORLD]
    with _disable_current_modes():  # or the simulated cluster sees wait_tensor read what is in flight
        gathered = ops.wait_tensor(ops.all_gather_into_tensor(x.contiguous(), n, name))
        return torch.cat(gathered.chunk(n), -1)


class _Twice(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, group):
        ctx.x, ctx.group = x.detach(), group
        return _whole(ctx.x, group)

    @staticmethod
    def backward(ctx, grad):
        x = ctx.x.requires_grad_()
        with torch.enable_grad(), _disable_current_modes():
            y = _whole(x, ctx.group)
            return torch.autograd.grad(y, x, grad.contiguous())[0] / dist.get_world_size(ctx.group), None


def all_gather_from_region(x, group=None):
    return _whole(x, group)


def gather_from_region(x, group=None):
    return _Twice.apply(x, group)
