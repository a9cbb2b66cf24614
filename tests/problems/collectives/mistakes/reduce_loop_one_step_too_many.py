"""The reduce phase of all_reduce runs n steps: the chunk that is passed on counts one rank twice; MAX and MIN hide it.

mistake = 3
loses = ["collectives.all_reduce"]
says = ["expected"]
"""


def all_reduce(tensor, op=ReduceOp.SUM, group=None):
    combine = _combiner(op, tensor.dtype)
    rank, n = dist.get_rank(group), dist.get_world_size(group)
    if n == 1:
        return
    flat = _flat(tensor)
    chunks = flat.tensor_split(n)
    for step in range(n):
        own = chunks[(rank - step - 1) % n]
        landed = torch.empty_like(own)
        _exchange({(rank + 1) % n: chunks[(rank - step) % n]}, {(rank - 1) % n: landed}, group)
        combine(own, landed, out=own)
    _ring(chunks, rank, group)
    if op == ReduceOp.AVG:
        flat /= n
    _write_back(flat, tensor)
