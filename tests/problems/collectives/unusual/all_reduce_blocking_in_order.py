"""The ring of all_reduce uses blocking calls alone: even ranks send first, odd ranks receive first.

may_lose = ["collectives.all_reduce.cost", "collectives.all_reduce.scale"]
thorough = true
"""


def _shift(outgoing, incoming, group):
    rank, n = dist.get_rank(group), dist.get_world_size(group)
    right = dist.get_global_rank(group or dist.group.WORLD, (rank + 1) % n)
    left = dist.get_global_rank(group or dist.group.WORLD, (rank - 1) % n)
    if rank % 2 == 0:
        dist.send(outgoing, right, group)
        dist.recv(incoming, left, group)
    else:
        dist.recv(incoming, left, group)
        dist.send(outgoing, right, group)


def all_reduce(tensor, op=ReduceOp.SUM, group=None):
    combine = _combiner(op, tensor.dtype)
    rank, n = dist.get_rank(group), dist.get_world_size(group)
    flat = tensor.flatten().clone()
    chunks = flat.tensor_split(n)
    for step in range(2 * (n - 1)):
        own = chunks[(rank - step - 1) % n]
        landed = torch.empty_like(own)
        _shift(chunks[(rank - step) % n], landed, group)
        own.copy_(combine(own, landed) if step < n - 1 else landed)
    if op == ReduceOp.AVG:
        flat /= n
    tensor.copy_(flat.reshape(tensor.shape))
