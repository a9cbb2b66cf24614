"""all_reduce is a reduce to the first rank, followed by a broadcast.

may_lose = ["collectives.all_reduce.cost", "collectives.all_reduce.scale"]
thorough = true
"""


def all_reduce(tensor, op=ReduceOp.SUM, group=None):
    first = dist.get_global_rank(group or dist.group.WORLD, 0)
    reduce(tensor, first, op, group)
    broadcast(tensor, first, group)
