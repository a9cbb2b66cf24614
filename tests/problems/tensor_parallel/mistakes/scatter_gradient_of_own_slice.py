"""The backward of scatter_to_region fills in zeros for the other ranks' slices.

mistake = 34
loses = ["tensor_parallel.scatter_to_region", "tensor_parallel.RowParallelLinear"]
says = ["all-gather"]
"""


def scatter_to_region(x, group=None):
    share = _share(x.shape[-1], group, "features")
    rank = dist.get_rank(group)
    return x[..., rank * share : (rank + 1) * share]
