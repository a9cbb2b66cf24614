"""Regions made of tensor hooks and stacked collectives, with an autograd function made in a closure.

may_lose = []
"""


def copy_to_region(x, group=None):
    if not x.requires_grad:
        return x
    copied = x.view_as(x)

    def sum_over_ranks(gradient):
        gradient = gradient.contiguous().clone()
        dist.all_reduce(gradient, op=dist.ReduceOp.SUM, group=group)
        return gradient

    copied.register_hook(sum_over_ranks)
    return copied


def reduce_from_region(x, group=None):
    class Sum(torch.autograd.Function):
        @staticmethod
        def forward(ctx, term):
            total = term.detach().clone(memory_format=torch.contiguous_format)
            dist.all_reduce(total, group=group, async_op=True).wait()
            return total

        @staticmethod
        def backward(ctx, gradient):
            return gradient.clone()

    return Sum.apply(x)
