"""The sender of gather tags its message with its rank, the receiver expects tag 0.

loses = ["collectives.gather"]
says = ["tag|wait"]
"""


def gather(tensor, gather_list=None, dst=0, group=None):
    rank, root = dist.get_rank(group), _root(dst, group)
    if rank != root:
        dist.send(_flat(tensor), group_dst=root, group=group, tag=1 + rank)
        return
    gather_list[root].copy_(tensor)
    for peer, part in enumerate(gather_list):
        if peer != root:
            flat = _flat(part)
            dist.recv(flat, group_src=peer, group=group)
            _write_back(flat, part)
