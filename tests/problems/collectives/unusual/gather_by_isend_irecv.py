"""gather starts all receives at once, with isend, irecv and tags that agree.

may_lose = ["collectives.gather.cost"]
"""


def gather(tensor, gather_list=None, dst=0, group=None):
    rank = dist.get_rank(group)
    if dist.get_rank() != dst:
        return dist.isend(tensor.contiguous(), dst, group, tag=rank).wait()
    landed = {peer: _flat(part) for peer, part in enumerate(gather_list) if peer != rank}
    works = [dist.irecv(part, group_src=peer, group=group, tag=peer) for peer, part in landed.items()]
    for work in reversed(works):
        work.wait()
    for peer, part in enumerate(gather_list):
        part.copy_(landed[peer].view_as(part) if peer != rank else tensor)
