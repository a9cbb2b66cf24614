"""The root of broadcast sends one message more than anybody receives.

loses = ["collectives.broadcast"]
says = ["never received"]
"""

_broadcast_without_extra = broadcast


def broadcast(tensor, src, group=None):
    _broadcast_without_extra(tensor, src, group)
    rank, n = dist.get_rank(group), dist.get_world_size(group)
    if n > 1 and rank == _root(src, group):
        dist.isend(_flat(tensor), group_dst=(rank + 1) % n, group=group)
