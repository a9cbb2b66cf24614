"""reduce_scatter combines what it receives with the uninitialised output, not with the rank's own block.

mistake = 5
loses = ["collectives.reduce_scatter"]
says = ["expected"]
"""


def reduce_scatter(output, input, op=ReduceOp.SUM, group=None):
    combine = _combiner(op, input.dtype)
    rank, n = dist.get_rank(group), dist.get_world_size(group)
    blocks = _flat(input).tensor_split(n)
    total = _flat(output).clone()
    for step in range(1, n):
        landed = torch.empty_like(total)
        _exchange({(rank + step) % n: blocks[(rank + step) % n]}, {(rank - step) % n: landed}, group)
        combine(total, landed, out=total)
    if op == ReduceOp.AVG:
        total /= n
    output.copy_(total.view(output.shape))
