"""reduce starts every op from zeros, which is wrong for MAX of negative numbers, for MIN and for PRODUCT.

mistake = 16
loses = ["collectives.reduce"]
says = ["expected"]
"""


def reduce(tensor, dst, op=ReduceOp.SUM, group=None):
    combine = _combiner(op, tensor.dtype)
    rank, n, root = dist.get_rank(group), dist.get_world_size(group), _root(dst, group)
    if rank != root:
        dist.send(_flat(tensor), group_dst=root, group=group)
        return
    total = torch.zeros_like(_flat(tensor))
    for peer in range(n):
        landed = _flat(tensor).clone()
        if peer != root:
            dist.recv(landed, group_src=peer, group=group)
        combine(total, landed, out=total)
    if op == ReduceOp.AVG:
        total /= n
    tensor.copy_(total.view(tensor.shape))
