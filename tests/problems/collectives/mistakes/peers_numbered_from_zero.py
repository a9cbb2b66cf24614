"""all_reduce sends to ranks 0..n-1 of the world, whoever is in the group.

loses = ["collectives.all_reduce"]
says = ["group"]
"""


def all_reduce(tensor, op=ReduceOp.SUM, group=None):
    combine = _combiner(op, tensor.dtype)
    rank, n = dist.get_rank(group), dist.get_world_size(group)
    flat = _flat(tensor)
    chunks = flat.tensor_split(n)
    for step in range(2 * (n - 1)):
        own = chunks[(rank - step - 1) % n]
        landed = torch.empty_like(own)
        sending = dist.isend(chunks[(rank - step) % n], (rank + 1) % n, group=group)
        dist.recv(landed, (rank - 1) % n, group=group)
        sending.wait()
        own.copy_(combine(own, landed) if step < n - 1 else landed)
    if op == ReduceOp.AVG:
        flat /= n
    _write_back(flat, tensor)
