"""all_reduce keeps its running total for the next call with as many elements, and does not start it anew.

loses = ["collectives.all_reduce"]
says = ["expected"]
"""

_totals = {}


def all_reduce(tensor, op=ReduceOp.SUM, group=None):
    combine = _combiner(op, tensor.dtype)
    rank, n = dist.get_rank(group), dist.get_world_size(group)
    total = _totals.setdefault((tensor.numel(), tensor.dtype, op), _flat(tensor).clone())
    chunks = total.tensor_split(n)
    _ring(chunks, rank, group, combine)
    _ring(chunks, rank + 1, group)
    if op == ReduceOp.AVG:
        total /= n
    tensor.copy_(total.view(tensor.shape))
