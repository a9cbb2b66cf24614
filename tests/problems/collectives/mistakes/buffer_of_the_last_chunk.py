"""The receive buffer always has the size of the last chunk, though earlier ones are larger: gloo aborts the process.

mistake = 12
loses = ["collectives.all_reduce"]
says = ["elements|bytes|size"]
"""


def all_reduce(tensor, op=ReduceOp.SUM, group=None):
    combine = _combiner(op, tensor.dtype)
    rank, n = dist.get_rank(group), dist.get_world_size(group)
    flat = _flat(tensor)
    chunks = flat.tensor_split(n)
    landed = torch.empty_like(chunks[-1])
    for step in range(n - 1):
        own = chunks[(rank - step - 1) % n]
        sending = dist.isend(chunks[(rank - step) % n], group_dst=(rank + 1) % n, group=group)
        dist.recv(landed, group_src=(rank - 1) % n, group=group)
        sending.wait()
        combine(own[: landed.numel()], landed, out=own[: landed.numel()])
    _ring(chunks, rank + 1, group)
    if op == ReduceOp.AVG:
        flat /= n
    _write_back(flat, tensor)
