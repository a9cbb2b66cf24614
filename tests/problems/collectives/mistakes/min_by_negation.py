"""reduce_scatter finds MIN as the negated MAX of the negated values, which unsigned integers and bool do not have.

loses = ["collectives.reduce_scatter"]
says = ["expected|Error"]
"""

_reduce_scatter_directly = reduce_scatter


def reduce_scatter(output, input, op=ReduceOp.SUM, group=None):
    if op != ReduceOp.MIN:
        return _reduce_scatter_directly(output, input, op, group)
    _reduce_scatter_directly(output, -input, ReduceOp.MAX, group)
    output.neg_()
