"""The average of integers is refused when everything has been sent and added up: nobody gains by it.

mistake = 16
loses = ["collectives.reduce.errors", "collectives.reduce_scatter.errors"]
says = ["too late"]
"""

_reduce_anything, _reduce_scatter_anything = reduce, reduce_scatter


def _sum_of(op):
    return ReduceOp.SUM if op == ReduceOp.AVG else op


def _refuse(op, tensor):
    if op == ReduceOp.AVG and not tensor.is_floating_point():
        raise ValueError("AVG needs a floating dtype")


def reduce(tensor, dst, op=ReduceOp.SUM, group=None):
    before = tensor.clone()
    _reduce_anything(tensor, dst, _sum_of(op), group)
    if op == ReduceOp.AVG and not tensor.is_floating_point():
        tensor.copy_(before)
    _refuse(op, tensor)
    if op == ReduceOp.AVG and dist.get_rank() == dst:
        tensor /= dist.get_world_size(group)


def reduce_scatter(output, input, op=ReduceOp.SUM, group=None):
    _reduce_scatter_anything(output, input, _sum_of(op), group)
    _refuse(op, output)
    if op == ReduceOp.AVG:
        output /= dist.get_world_size(group)
