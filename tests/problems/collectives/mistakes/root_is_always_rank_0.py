"""scatter sends from the first rank of the group, whatever src is.

loses = ["collectives.scatter"]
says = ["Error|expected|src"]
"""


def scatter(tensor, scatter_list=None, src=0, group=None):
    if dist.get_rank(group) == 0:
        tensor.copy_(scatter_list[0])
        for peer, part in enumerate(scatter_list[1:], start=1):
            dist.send(_flat(part), group_dst=peer, group=group)
    else:
        flat = _flat(tensor)
        dist.recv(flat, group_src=0, group=group)
        _write_back(flat, tensor)
