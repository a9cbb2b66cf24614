"""Results are written through reshape, which gives a copy where a view cannot be.

loses = ["collectives.reduce.layouts", "collectives.reduce_scatter.layouts"]
says = ["not contiguous"]
"""

_reduce_in_a_row, _reduce_scatter_in_a_row = reduce, reduce_scatter


def reduce(tensor, dst, op=ReduceOp.SUM, group=None):
    row = tensor.contiguous().view(-1).clone()
    _reduce_in_a_row(row, dst, op, group)
    if dist.get_rank() == dst:
        tensor.reshape(-1).copy_(row)


def reduce_scatter(output, input, op=ReduceOp.SUM, group=None):
    row = torch.empty_like(output.contiguous().view(-1))
    _reduce_scatter_in_a_row(row, input.contiguous().view(-1), op, group)
    output.reshape(-1).copy_(row)
