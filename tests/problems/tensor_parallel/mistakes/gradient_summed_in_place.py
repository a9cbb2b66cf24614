"""The backward of copy_to_region sums into the very tensor that other branches use too.

loses = ["tensor_parallel.copy_to_region"]
says = ["upstream gradient was changed"]
"""


class _CopyTo(_CopyTo):
    @staticmethod
    def backward(ctx, grad):
        grad = grad.contiguous()
        dist.all_reduce(grad, group=ctx.group)
        return grad, None
