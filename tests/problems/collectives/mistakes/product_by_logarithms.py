"""reduce multiplies by adding logarithms, which negative numbers and zeros do not have.

loses = ["collectives.reduce"]
says = ["expected"]
"""

_reduce_directly = reduce


def reduce(tensor, dst, op=ReduceOp.SUM, group=None):
    if op != ReduceOp.PRODUCT:
        return _reduce_directly(tensor, dst, op, group)
    logarithms = tensor.double().log()
    _reduce_directly(logarithms, dst, ReduceOp.SUM, group)
    if dist.get_rank() == dst:
        tensor.copy_(logarithms.exp())
