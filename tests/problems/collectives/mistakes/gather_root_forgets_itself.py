"""The root of gather collects from all others, and never writes its own part into the list.

mistake = 9
loses = ["collectives.gather"]
says = ["expected"]
"""


def gather(tensor, gather_list=None, dst=0, group=None):
    rank, root = dist.get_rank(group), _root(dst, group)
    if rank != root:
        dist.send(_flat(tensor), group_dst=root, group=group)
        return
    for peer, part in enumerate(gather_list):
        if peer != root:
            flat = _flat(part)
            dist.recv(flat, group_src=peer, group=group)
            _write_back(flat, part)
