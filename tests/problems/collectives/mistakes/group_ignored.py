"""scatter forgets the group: root, ranks and messages are those of the world.

loses = ["collectives.scatter"]
says = ["leaves the group"]
"""


def scatter(tensor, scatter_list=None, src=0, group=None):
    if dist.get_rank() == src:
        tensor.copy_(scatter_list[src])
        for peer, part in enumerate(scatter_list):
            if peer != src:
                dist.send(_flat(part), dst=peer)
    else:
        flat = _flat(tensor)
        dist.recv(flat, src=src)
        _write_back(flat, tensor)
