"""The all-gather phase of all_reduce starts at the rank's own chunk, though the finished one is the next.

mistake = 1
loses = ["collectives.all_reduce"]
says = ["expected"]
"""


def all_reduce(tensor, op=ReduceOp.SUM, group=None):
    combine = _combiner(op, tensor.dtype)
    rank, n = dist.get_rank(group), dist.get_world_size(group)
    right, left = (rank + 1) % n, (rank - 1) % n
    flat = _flat(tensor)
    chunks = flat.tensor_split(n)
    for step in range(n - 1):
        own = chunks[(rank - step - 1) % n]
        landed = torch.empty_like(own)
        _exchange({right: chunks[(rank - step) % n]}, {left: landed}, group)
        combine(own, landed, out=own)
    for step in range(n - 1):
        _exchange({right: chunks[(rank - step) % n]}, {left: chunks[(rank - step - 1) % n]}, group)
    if op == ReduceOp.AVG:
        flat /= n
    _write_back(flat, tensor)
