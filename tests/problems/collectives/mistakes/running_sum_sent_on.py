"""Each rank sends its running sum, in which its neighbour's values are counted already: right on two ranks only.

mistake = 4
loses = ["collectives.all_reduce"]
says = ["expected"]
"""


def all_reduce(tensor, op=ReduceOp.SUM, group=None):
    combine = _combiner(op, tensor.dtype)
    rank, n = dist.get_rank(group), dist.get_world_size(group)
    total = _flat(tensor).clone()
    landed = torch.empty_like(total)
    for _ in range(n - 1):
        _exchange({(rank + 1) % n: total}, {(rank - 1) % n: landed}, group)
        combine(total, landed, out=total)
    if op == ReduceOp.AVG:
        total /= n
    tensor.copy_(total.view(tensor.shape))
