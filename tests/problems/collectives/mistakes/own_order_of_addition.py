"""reduce_scatter is right, but all_reduce adds on each rank its own tensor first: the last bits differ.

mistake = 18
loses = ["collectives.all_reduce"]
says = ["bit|bytes"]
"""


def all_reduce(tensor, op=ReduceOp.SUM, group=None):
    combine = _combiner(op, tensor.dtype)
    rank, n = dist.get_rank(group), dist.get_world_size(group)
    total = _flat(tensor).clone()
    others = {peer: torch.empty_like(total) for peer in range(n) if peer != rank}
    _exchange({peer: _flat(tensor) for peer in others}, others, group)
    for peer in others:
        combine(total, others[peer], out=total)
    if op == ReduceOp.AVG:
        total /= n
    tensor.copy_(total.view(tensor.shape))
