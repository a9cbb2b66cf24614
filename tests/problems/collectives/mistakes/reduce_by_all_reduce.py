"""reduce works the result out on every rank, and keeps it on one.

loses = ["collectives.reduce.cost"]
says = ["too high a cost"]
"""


def reduce(tensor, dst, op=ReduceOp.SUM, group=None):
    total = tensor.clone()
    all_reduce(total, op, group)
    if dist.get_rank() == dst:
        tensor.copy_(total)
