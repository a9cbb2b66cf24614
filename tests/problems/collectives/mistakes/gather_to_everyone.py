"""gather is an all_gather of which only the root keeps the result.

loses = ["collectives.gather.cost"]
says = ["bytes"]
"""


def gather(tensor, gather_list=None, dst=0, group=None):
    rank, n = dist.get_rank(group), dist.get_world_size(group)
    mine = _flat(tensor)
    parts = {peer: torch.empty_like(mine) for peer in range(n)}
    parts[rank].copy_(mine)
    others = {peer: part for peer, part in parts.items() if peer != rank}
    _exchange({peer: mine for peer in others}, others, group)
    if rank == _root(dst, group):
        for peer, part in parts.items():
            gather_list[peer].copy_(part.view(tensor.shape))
