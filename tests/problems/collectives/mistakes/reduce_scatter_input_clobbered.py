"""reduce_scatter uses its input as the place for partial results.

mistake = 17
loses = ["collectives.reduce_scatter"]
says = ["input"]
"""


def reduce_scatter(output, input, op=ReduceOp.SUM, group=None):
    combine = _combiner(op, input.dtype)
    rank, n = dist.get_rank(group), dist.get_world_size(group)
    blocks = _flat(input).tensor_split(n)
    _ring(blocks, rank - 1, group, combine)
    if op == ReduceOp.AVG:
        blocks[rank].div_(n)
    output.copy_(blocks[rank].view(output.shape))
