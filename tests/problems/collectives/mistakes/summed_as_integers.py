"""reduce turns floating values into integers on the way.

loses = ["collectives.reduce"]
says = ["expected"]
"""

_reduce_in_its_dtype = reduce


def reduce(tensor, dst, op=ReduceOp.SUM, group=None):
    if op == ReduceOp.AVG or not tensor.is_floating_point():
        return _reduce_in_its_dtype(tensor, dst, op, group)
    whole = tensor.long()
    _reduce_in_its_dtype(whole, dst, op, group)
    if dist.get_rank() == dst:
        tensor.copy_(whole)
