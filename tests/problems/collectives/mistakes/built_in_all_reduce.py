"""all_reduce calls torch's own.

mistake = 19
loses = ["collectives.all_reduce"]
says = ["all_?reduce", "send", "recv"]
"""


def all_reduce(tensor, op=ReduceOp.SUM, group=None):
    dist.all_reduce(tensor, op, group)
