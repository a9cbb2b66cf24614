"""reduce_scatter takes the block of the global rank, not of the rank in the group.

loses = ["collectives.reduce_scatter"]
says = ["group"]
"""


def reduce_scatter(output, input, op=ReduceOp.SUM, group=None):
    combine = _combiner(op, input.dtype)
    rank, n = dist.get_rank(group), dist.get_world_size(group)
    blocks = _flat(input).clone().tensor_split(n)
    _ring(blocks, rank - 1, group, combine)
    if op == ReduceOp.AVG:
        blocks[rank].div_(n)
    output.copy_(blocks[dist.get_rank() % n].view(output.shape))
