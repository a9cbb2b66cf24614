"""AVG divides by the size of the world, though only the group took part.

mistake = 16
loses = ["collectives.all_reduce"]
says = ["expected", "group"]
"""


def all_reduce(tensor, op=ReduceOp.SUM, group=None):
    combine = _combiner(op, tensor.dtype)
    rank, n = dist.get_rank(group), dist.get_world_size(group)
    flat = _flat(tensor)
    chunks = flat.tensor_split(n)
    _ring(chunks, rank, group, combine)
    _ring(chunks, rank + 1, group)
    if op == ReduceOp.AVG:
        flat /= dist.get_world_size()
    _write_back(flat, tensor)
