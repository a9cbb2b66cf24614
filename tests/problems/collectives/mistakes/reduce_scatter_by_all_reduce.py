"""reduce_scatter is an all_reduce of which each rank keeps its block: twice the bytes.

loses = ["collectives.reduce_scatter.cost"]
says = ["too high a cost", "enough"]
"""


def reduce_scatter(output, input, op=ReduceOp.SUM, group=None):
    total = _flat(input).clone()
    all_reduce(total, op, group)
    block = total.tensor_split(dist.get_world_size(group))[dist.get_rank(group)]
    output.copy_(block.view(output.shape))
