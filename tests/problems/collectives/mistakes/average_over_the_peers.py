"""AVG divides by the number of messages received, n-1.

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
    total = _flat(tensor).clone()
    landed = torch.empty_like(total)
    for peer in range(n):
        if peer != root:
            dist.recv(landed, group_src=peer, group=group)
            combine(total, landed, out=total)
    if op == ReduceOp.AVG:
        total /= max(1, n - 1)
    tensor.copy_(total.view(tensor.shape))
