"""all_reduce collects all tensors on the last rank, which combines them and sends the result back.

may_lose = ["collectives.all_reduce.cost", "collectives.all_reduce.scale"]
thorough = true
"""


def all_reduce(tensor, op=ReduceOp.SUM, group=None):
    combine = _combiner(op, tensor.dtype)
    rank, n = dist.get_rank(group), dist.get_world_size(group)
    hub = n - 1
    flat = _flat(tensor)
    if rank != hub:
        dist.send(flat, group_dst=hub, group=group)
        dist.recv(flat, group_src=hub, group=group)
    else:
        landed = torch.empty_like(flat)
        for peer in range(hub):
            dist.recv(landed, group_src=peer, group=group)
            combine(flat, landed, out=flat)
        if op == ReduceOp.AVG:
            flat /= n
        for peer in range(hub):
            dist.send(flat, group_dst=peer, group=group)
    _write_back(flat, tensor)
