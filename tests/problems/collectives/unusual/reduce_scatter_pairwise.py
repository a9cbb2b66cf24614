"""reduce_scatter sends each block straight to its rank, and adds up what comes in the order of the ranks.

may_lose = ["collectives.reduce_scatter.cost"]
"""


def reduce_scatter(output, input, op=ReduceOp.SUM, group=None):
    combine = _combiner(op, input.dtype)
    rank, n = dist.get_rank(group), dist.get_world_size(group)
    blocks = dict(enumerate(_flat(input).tensor_split(n)))
    landed = {peer: blocks[rank] if peer == rank else torch.empty_like(blocks[rank]) for peer in range(n)}
    _exchange(
        {peer: block for peer, block in blocks.items() if peer != rank},
        {peer: block for peer, block in landed.items() if peer != rank},
        group,
    )
    total = landed[0].clone()
    for peer in range(1, n):
        combine(total, landed[peer], out=total)
    if op == ReduceOp.AVG:
        total.true_divide_(n)
    output.copy_(total.view(output.shape))
