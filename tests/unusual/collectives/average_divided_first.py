"""all_reduce divides before it adds, when the op is AVG.

may_lose = ["collectives.all_reduce.cost", "collectives.all_reduce.scale"]
"""

_all_reduce_and_divide_last = all_reduce


def all_reduce(tensor, op=ReduceOp.SUM, group=None):
    if op == ReduceOp.AVG:
        _combiner(op, tensor.dtype)
        tensor /= dist.get_world_size(group)
        op = ReduceOp.SUM
    _all_reduce_and_divide_last(tensor, op, group)
