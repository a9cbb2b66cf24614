"""all_reduce adds the receive buffer before waiting for it.

mistake = 14
loses = ["collectives.all_reduce"]
says = ["expected|wait"]
"""


def all_reduce(tensor, op=ReduceOp.SUM, group=None):
    combine = _combiner(op, tensor.dtype)
    rank, n = dist.get_rank(group), dist.get_world_size(group)
    flat = _flat(tensor)
    chunks = flat.tensor_split(n)
    for step in range(n - 1):
        own = chunks[(rank - step - 1) % n]
        landed = torch.zeros_like(own)
        works = _start({(rank + 1) % n: chunks[(rank - step) % n]}, {(rank - 1) % n: landed}, group)
        combine(own, landed, out=own)
        _wait(works)
    _ring(chunks, rank + 1, group)
    if op == ReduceOp.AVG:
        flat /= n
    _write_back(flat, tensor)
