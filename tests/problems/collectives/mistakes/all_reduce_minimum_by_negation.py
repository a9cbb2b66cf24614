"""all_reduce finds MIN as the negated MAX of the negated values, which unsigned integers and bool do not have.

loses = ["collectives.all_reduce.ops"]
says = ["expected|Error"]
"""

_all_reduce_directly = all_reduce


def all_reduce(tensor, op=ReduceOp.SUM, group=None):
    if op != ReduceOp.MIN:
        return _all_reduce_directly(tensor, op, group)
    tensor.neg_()
    _all_reduce_directly(tensor, ReduceOp.MAX, group)
    tensor.neg_()
