"""Every rank thanks the root for its tensor: bytes that nobody needs.

loses = ["collectives.broadcast.cost"]
says = ["too high a cost"]
"""

_broadcast_without_thanks = broadcast


def broadcast(tensor, src, group=None):
    _broadcast_without_thanks(tensor, src, group)
    thanks = [torch.zeros(1) for _ in range(dist.get_world_size(group))]
    gather(torch.ones(1), thanks if dist.get_rank() == src else None, src, group)
