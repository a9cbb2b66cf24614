"""all_reduce passes whole tensors round the ring: n-1 times the bytes, and each rank adds in an order of its own.

mistake = 18
loses = ["collectives.all_reduce"]
says = ["bit|bytes"]
"""


def all_reduce(tensor, op=ReduceOp.SUM, group=None):
    combine = _combiner(op, tensor.dtype)
    rank, n = dist.get_rank(group), dist.get_world_size(group)
    travelling = _flat(tensor).clone()
    total = travelling.clone()
    for _ in range(n - 1):
        landed = torch.empty_like(travelling)
        _exchange({(rank + 1) % n: travelling}, {(rank - 1) % n: landed}, group)
        combine(total, landed, out=total)
        travelling = landed
    if op == ReduceOp.AVG:
        total /= n
    tensor.copy_(total.view(tensor.shape))
