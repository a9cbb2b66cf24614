"""broadcast ends with a barrier, to be on the safe side.

mistake = 19
loses = ["collectives.broadcast"]
says = ["barrier", "send", "recv"]
"""

_broadcast_without_barrier = broadcast


def broadcast(tensor, src, group=None):
    _broadcast_without_barrier(tensor, src, group)
    dist.barrier(group)
