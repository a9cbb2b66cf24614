"""reduce divides a group's sum by the number of ranks in the world.

loses = ["collectives.reduce.groups"]
says = ["expected"]
"""

_reduce_in_the_group = reduce


def reduce(tensor, dst, op=ReduceOp.SUM, group=None):
    if op != ReduceOp.AVG or not tensor.is_floating_point():
        return _reduce_in_the_group(tensor, dst, op, group)
    _reduce_in_the_group(tensor, dst, ReduceOp.SUM, group)
    if dist.get_rank() == dst:
        tensor /= dist.get_world_size()
