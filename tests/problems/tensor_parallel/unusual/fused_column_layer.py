"""The column-parallel layer as one autograd function with all its gradients by hand; F.linear on the transpose.

may_lose = []
"""


class _ColumnLinear(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight, bias, group):
        ctx.save_for_backward(x, weight)
        ctx.group, ctx.has_bias = group, bias is not None
        return F.linear(x, weight.t(), bias)

    @staticmethod
    def backward(ctx, grad):
        x, weight = ctx.saved_tensors
        wants_x, wants_weight, wants_bias, _ = ctx.needs_input_grad
        grad_x = grad_weight = grad_bias = pending = None
        if wants_x:
            grad_x = (grad @ weight.t()).contiguous()
            pending = dist.all_reduce(grad_x, group=ctx.group, async_op=True)
        rows = grad.reshape(-1, grad.shape[-1])
        if wants_weight:
            grad_weight = x.reshape(-1, x.shape[-1]).t() @ rows  # while the sum is on its way
        if wants_bias:
            grad_bias = rows.sum(0)
        if pending is not None:
            pending.wait()
        return grad_x, grad_weight, grad_bias, None


class ColumnParallelLinear(nn.Module):
    def __init__(self, in_features, out_features, bias=True, gather_output=True, group=None, init_scale=1.0):
        super().__init__()
        n = dist.get_world_size(group)
        if out_features % n:
            raise ValueError(f"{out_features} columns on {n} ranks")
        self.parallel_group, self.whole_output = group, gather_output
        torch.manual_seed(torch.initial_seed() % 2**40 + 7919 * dist.get_rank(group) + int(torch.randint(2**30, ())))
        weight = (torch.rand(in_features, out_features // n) * 2 - 1) * init_scale / in_features**0.5
        self.weight = nn.Parameter(weight)
        if bias:
            self.bias = nn.Parameter(torch.zeros(out_features // n))
        else:
            self.register_parameter("bias", None)

    def forward(self, x):
        y = _ColumnLinear.apply(x, self.weight, self.bias, self.parallel_group)
        return gather_from_region(y, self.parallel_group) if self.whole_output else y
