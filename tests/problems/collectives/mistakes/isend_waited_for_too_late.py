"""all_reduce waits for its sends at the end only, when their buffer has long been overwritten.

mistake = 14
loses = ["collectives.all_reduce"]
says = ["wait|in flight|expected"]
"""


def all_reduce(tensor, op=ReduceOp.SUM, group=None):
    combine = _combiner(op, tensor.dtype)
    rank, n = dist.get_rank(group), dist.get_world_size(group)
    flat = _flat(tensor)
    chunks = flat.tensor_split(n)
    outgoing = torch.empty_like(chunks[0])
    sends = []
    for step in range(n - 1):
        own, sent = chunks[(rank - step - 1) % n], chunks[(rank - step) % n]
        landed = torch.empty_like(own)
        outgoing[: sent.numel()].copy_(sent)
        sends.append(dist.isend(outgoing[: sent.numel()], group_dst=(rank + 1) % n, group=group))
        dist.recv(landed, group_src=(rank - 1) % n, group=group)
        combine(own, landed, out=own)
    _wait(sends)
    _ring(chunks, rank + 1, group)
    if op == ReduceOp.AVG:
        flat /= n
    _write_back(flat, tensor)
