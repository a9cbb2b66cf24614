"""reduce hands a running result along the ranks, ending at the root, in n-1 steps.

may_lose = ["collectives.reduce.cost"]
"""


def reduce(tensor, dst, op=ReduceOp.SUM, group=None):
    combine = _combiner(op, tensor.dtype)
    rank, n, root = dist.get_rank(group), dist.get_world_size(group), _root(dst, group)
    total = _flat(tensor).clone()
    if (rank - 1) % n != root:
        landed = torch.empty_like(total)
        dist.recv(landed, group_src=(rank - 1) % n, group=group)
        total = combine(landed, total)
    if rank != root:
        dist.send(total, group_dst=(rank + 1) % n, group=group)
    else:
        tensor.copy_((total / n if op == ReduceOp.AVG else total).view(tensor.shape))
