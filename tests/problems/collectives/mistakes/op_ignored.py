"""reduce_scatter sums, whatever the op.

mistake = 16
loses = ["collectives.reduce_scatter"]
says = ["expected"]
"""


def reduce_scatter(output, input, op=ReduceOp.SUM, group=None):
    rank, n = dist.get_rank(group), dist.get_world_size(group)
    blocks = _flat(input).clone().tensor_split(n)
    _ring(blocks, rank - 1, group, torch.add)
    output.copy_(blocks[rank].view(output.shape))
