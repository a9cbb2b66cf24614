"""The root of gather also receives from itself, and waits for a message that nobody sends.

loses = ["collectives.gather"]
says = ["itself|rank|wait"]
"""


def gather(tensor, gather_list=None, dst=0, group=None):
    rank, root = dist.get_rank(group), _root(dst, group)
    if rank != root:
        dist.send(_flat(tensor), group_dst=root, group=group)
        return
    for peer, part in enumerate(gather_list):
        flat = _flat(part)
        dist.recv(flat, group_src=peer, group=group)
        _write_back(flat, part)
