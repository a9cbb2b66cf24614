"""all_reduce works on tensor.reshape(-1), which is a copy when the tensor is not contiguous.

mistake = 15
loses = ["collectives.all_reduce"]
says = ["expected"]
"""


def all_reduce(tensor, op=ReduceOp.SUM, group=None):
    combine = _combiner(op, tensor.dtype)
    rank, n = dist.get_rank(group), dist.get_world_size(group)
    flat = tensor.reshape(-1)
    chunks = flat.tensor_split(n)
    _ring(chunks, rank, group, combine)
    _ring(chunks, rank + 1, group)
    if op == ReduceOp.AVG:
        flat /= n
