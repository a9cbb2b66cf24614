"""The root of broadcast sends to every other rank itself.

may_lose = ["collectives.broadcast.cost"]
"""


def broadcast(tensor, src, group=None):
    rank, n, root = dist.get_rank(group), dist.get_world_size(group), _root(src, group)
    flat = _flat(tensor)
    if rank == root:
        for work in [dist.isend(flat, group_dst=peer, group=group) for peer in range(n) if peer != root]:
            work.wait()
    else:
        dist.recv(flat, src, group)
        _write_back(flat, tensor)
