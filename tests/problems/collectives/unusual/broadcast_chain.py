"""broadcast hands the tensor on from rank to rank, in n-1 steps.

may_lose = ["collectives.broadcast.cost"]
"""


def broadcast(tensor, src, group=None):
    n, root = dist.get_world_size(group), _root(src, group)
    rank = dist.get_rank(group)
    flat = _flat(tensor)
    if rank != root:
        dist.recv(flat, group_src=(rank - 1) % n, group=group)
        _write_back(flat, tensor)
    if (rank + 1) % n != root:
        dist.send(flat, group_dst=(rank + 1) % n, group=group)
