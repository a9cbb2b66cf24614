"""The all-gather phase of all_reduce starts at chunk rank-1, which is the finished one on two ranks only.

mistake = 1
loses = ["collectives.all_reduce"]
says = ["expected"]
"""


def all_reduce(tensor, op=ReduceOp.SUM, group=None):
    combine = _combiner(op, tensor.dtype)
    rank, n = dist.get_rank(group), dist.get_world_size(group)
    flat = _flat(tensor)
    chunks = flat.tensor_split(n)
    _ring(chunks, rank, group, combine)
    _ring(chunks, rank - 1, group)
    if op == ReduceOp.AVG:
        flat /= n
    _write_back(flat, tensor)
