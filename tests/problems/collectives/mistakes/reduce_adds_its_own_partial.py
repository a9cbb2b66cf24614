"""The root of reduce adds its own partial result again, instead of what it has received.

mistake = 5
loses = ["collectives.reduce"]
says = ["expected"]
"""


def reduce(tensor, dst, op=ReduceOp.SUM, group=None):
    combine = _combiner(op, tensor.dtype)
    rank, n, root = dist.get_rank(group), dist.get_world_size(group), _root(dst, group)
    if rank != root:
        dist.send(_flat(tensor), group_dst=root, group=group)
        return
    total = _flat(tensor).clone()
    for peer in range(n):
        if peer != root:
            landed = torch.empty_like(total)
            dist.recv(landed, group_src=peer, group=group)
            combine(total, total, out=total)
    if op == ReduceOp.AVG:
        total /= n
    tensor.copy_(total.view(tensor.shape))
