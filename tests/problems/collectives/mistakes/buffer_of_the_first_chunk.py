"""The receive buffer always has the size of chunk 0, though later chunks are smaller.

mistake = 12
loses = ["collectives.all_reduce"]
says = ["elements|size"]
"""


def all_reduce(tensor, op=ReduceOp.SUM, group=None):
    combine = _combiner(op, tensor.dtype)
    rank, n = dist.get_rank(group), dist.get_world_size(group)
    flat = _flat(tensor)
    chunks = flat.tensor_split(n)
    landed = torch.empty_like(chunks[0])
    for step in range(n - 1):
        own = chunks[(rank - step - 1) % n]
        _exchange({(rank + 1) % n: chunks[(rank - step) % n]}, {(rank - 1) % n: landed}, group)
        own.copy_(combine(own, landed))
    _ring(chunks, rank + 1, group)
    if op == ReduceOp.AVG:
        flat /= n
    _write_back(flat, tensor)
