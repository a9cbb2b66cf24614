"""all_reduce divides before it adds, when the op is AVG, and refuses that for integers by an exception of its own.

may_lose = ["collectives.all_reduce.cost", "collectives.all_reduce.scale"]
"""

_all_reduce_and_divide_last = all_reduce


class NoAverage(ValueError):
    """Of what is not floating."""


def all_reduce(tensor, op=ReduceOp.SUM, group=None):
    if op == ReduceOp.AVG:
        if not tensor.dtype.is_floating_point:
            raise NoAverage(tensor.dtype)
        tensor /= dist.get_world_size(group)
        op = ReduceOp.SUM
    _all_reduce_and_divide_last(tensor, op, group)
