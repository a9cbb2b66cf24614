"""all_reduce by recursive doubling: fewer steps than a ring, more bytes, and any number of ranks.

may_lose = ["collectives.all_reduce.cost", "collectives.all_reduce.scale"]
"""


def all_reduce(tensor, op=ReduceOp.SUM, group=None):
    combine = _combiner(op, tensor.dtype)
    rank, n = dist.get_rank(group), dist.get_world_size(group)
    flat = _flat(tensor)
    landed = torch.empty_like(flat)
    core = 1 << (n.bit_length() - 1)  # the largest power of two; the ranks above it hand their tensor to one below
    if rank >= core:
        dist.send(flat, group_dst=rank - core, group=group)
        dist.recv(flat, group_src=rank - core, group=group)
    else:
        if rank + core < n:
            dist.recv(landed, group_src=rank + core, group=group)
            combine(flat, landed, out=flat)
        distance = 1
        while distance < core:
            partner = rank ^ distance
            _exchange({partner: flat}, {partner: landed}, group)
            combine(flat, landed, out=flat)  # partners add the same two numbers, so they end with the same bits
            distance *= 2
        if op == ReduceOp.AVG:
            flat /= n
        if rank + core < n:
            dist.send(flat, group_dst=rank + core, group=group)
    _write_back(flat, tensor)
