"""The root of scatter sends to all others, and never writes its own tensor.

mistake = 9
loses = ["collectives.scatter"]
says = ["expected"]
"""


def scatter(tensor, scatter_list=None, src=0, group=None):
    rank, root = dist.get_rank(group), _root(src, group)
    if rank == root:
        for peer, part in enumerate(scatter_list):
            if peer != root:
                dist.send(_flat(part), group_dst=peer, group=group)
    else:
        flat = _flat(tensor)
        dist.recv(flat, group_src=root, group=group)
        _write_back(flat, tensor)
