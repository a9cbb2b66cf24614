"""The backward of all_gather_from_region returns its own piece of one rank's partial gradient.

mistake = 34
loses = ["tensor_parallel.all_gather_from_region", "tensor_parallel.column_parallel_forward"]
says = ["reduce-scatter", "part of the gradient alone"]
"""


class _AllGatherFrom(_AllGatherFrom):
    @staticmethod
    def backward(ctx, grad):
        return _own_slice(grad, ctx.group), None
