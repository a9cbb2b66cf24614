"""The root of scatter zeroes its list once it has been sent.

mistake = 17
loses = ["collectives.scatter"]
says = ["scatter_list|input|unharmed"]
"""


def scatter(tensor, scatter_list=None, src=0, group=None):
    rank, root = dist.get_rank(group), _root(src, group)
    if rank == root:
        tensor.copy_(scatter_list[root])
        for peer, part in enumerate(scatter_list):
            if peer != root:
                dist.send(_flat(part), group_dst=peer, group=group)
            part.zero_()
    else:
        flat = _flat(tensor)
        dist.recv(flat, group_src=root, group=group)
        _write_back(flat, tensor)
