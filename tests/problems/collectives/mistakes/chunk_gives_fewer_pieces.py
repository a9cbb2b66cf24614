"""torch.chunk gives fewer pieces than there are ranks: 5 elements on 4 ranks make 3.

mistake = 11
loses = ["collectives.all_reduce"]
says = ["IndexError"]
"""


def all_reduce(tensor, op=ReduceOp.SUM, group=None):
    combine = _combiner(op, tensor.dtype)
    rank, n = dist.get_rank(group), dist.get_world_size(group)
    flat = _flat(tensor)
    chunks = flat.chunk(n)
    for step in range(n - 1):
        own = chunks[(rank - step - 1) % n]
        landed = torch.empty_like(own)
        _exchange({(rank + 1) % n: chunks[(rank - step) % n]}, {(rank - 1) % n: landed}, group)
        combine(own, landed, out=own)
    for step in range(n - 1):
        own = chunks[(rank - step) % n]
        _exchange({(rank + 1) % n: chunks[(rank - step + 1) % n]}, {(rank - 1) % n: own}, group)
    if op == ReduceOp.AVG:
        flat /= n
    _write_back(flat, tensor)
