"""Sums are shared before they are divided: who owns a chunk multiplies by 1 / n, the others divide by n.

loses = ["collectives.all_reduce.lockstep"]
says = ["last bits"]
"""


def all_reduce(tensor, op=ReduceOp.SUM, group=None):
    combine = _combiner(op, tensor.dtype)
    rank, n = dist.get_rank(group), dist.get_world_size(group)
    flat = _flat(tensor)
    chunks = flat.tensor_split(n)
    _ring(chunks, rank, group, combine)
    own = chunks[(rank + 1) % n]
    _ring(chunks, rank + 1, group)
    if op == ReduceOp.AVG:
        average = own * (1 / n)
        flat /= n
        own.copy_(average)
    _write_back(flat, tensor)
