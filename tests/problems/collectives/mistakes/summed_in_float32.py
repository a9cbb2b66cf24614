"""reduce_scatter adds in float32, which loses digits of float64 and of large integers.

loses = ["collectives.reduce_scatter"]
says = ["expected"]
"""

_reduce_scatter_in_its_dtype = reduce_scatter


def reduce_scatter(output, input, op=ReduceOp.SUM, group=None):
    _combiner(op, input.dtype)
    total = torch.empty(output.shape, dtype=torch.float32, device=output.device)
    _reduce_scatter_in_its_dtype(total, input.float(), op, group)
    output.copy_(total)
