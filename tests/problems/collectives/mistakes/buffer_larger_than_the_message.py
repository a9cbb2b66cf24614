"""The receive buffer is as large as the largest chunk and only cut afterwards: gloo lets it pass, NCCL would hang.

mistake = 12
loses = ["collectives.all_reduce"]
says = ["elements|bytes|size"]
"""


def all_reduce(tensor, op=ReduceOp.SUM, group=None):
    combine = _combiner(op, tensor.dtype)
    rank, n = dist.get_rank(group), dist.get_world_size(group)
    flat = _flat(tensor)
    chunks = flat.tensor_split(n)
    landed = torch.empty_like(chunks[0])
    for step in range(n - 1):
        own = chunks[(rank - step - 1) % n]
        sending = dist.isend(chunks[(rank - step) % n], group_dst=(rank + 1) % n, group=group)
        dist.recv(landed, group_src=(rank - 1) % n, group=group)
        sending.wait()
        combine(own, landed[: own.numel()], out=own)
    _ring(chunks, rank + 1, group)
    if op == ReduceOp.AVG:
        flat /= n
    _write_back(flat, tensor)
