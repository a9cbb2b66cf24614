"""gather hands everything on to the next rank, the bundle growing at each: right, though more bytes than need be.

may_lose = ["collectives.gather.cost"]
"""


def gather(tensor, gather_list=None, dst=0, group=None):
    n, root = dist.get_world_size(group), _root(dst, group)
    rank = dist.get_rank(group)
    place = (root - rank) % n  # steps to the root
    mine = _flat(tensor)
    bundle = [torch.empty_like(mine) for _ in range(n - 1 - place)] + [mine]
    for part in bundle[:-1]:
        dist.recv(part, group_src=(rank - 1) % n, group=group)
    if place:
        for part in bundle:
            dist.send(part, group_dst=(rank + 1) % n, group=group)
    else:
        for offset, part in enumerate(bundle):
            gather_list[(root + 1 + offset) % n].copy_(part.view(tensor.shape))
