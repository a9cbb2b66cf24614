"""all_reduce puts the result under a new name, so that the caller's tensor never changes.

loses = ["collectives.all_reduce"]
says = ["expected"]
"""


def all_reduce(tensor, op=ReduceOp.SUM, group=None):
    combine = _combiner(op, tensor.dtype)
    rank, n = dist.get_rank(group), dist.get_world_size(group)
    mine = _flat(tensor)
    parts = {peer: torch.empty_like(mine) for peer in range(n)}
    parts[rank].copy_(mine)
    others = {peer: part for peer, part in parts.items() if peer != rank}
    _exchange({peer: mine for peer in others}, others, group)
    total = parts[0]
    for peer in range(1, n):
        total = combine(total, parts[peer])
    tensor = (total / n if op == ReduceOp.AVG else total).view(tensor.shape)
