"""A rank whose own chunk is empty returns at once, and the others wait for it.

loses = ["collectives.all_reduce"]
says = ["wait"]
"""


def all_reduce(tensor, op=ReduceOp.SUM, group=None):
    combine = _combiner(op, tensor.dtype)
    rank, n = dist.get_rank(group), dist.get_world_size(group)
    flat = _flat(tensor)
    chunks = flat.tensor_split(n)
    if chunks[rank].numel() == 0:
        return
    _ring(chunks, rank, group, combine)
    _ring(chunks, rank + 1, group)
    if op == ReduceOp.AVG:
        flat /= n
    _write_back(flat, tensor)
