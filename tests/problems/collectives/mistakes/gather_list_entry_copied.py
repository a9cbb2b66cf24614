"""gather receives into contiguous copies of the list's entries, and does not copy them back.

mistake = 15
loses = ["collectives.gather"]
says = ["expected"]
"""


def gather(tensor, gather_list=None, dst=0, group=None):
    rank, root = dist.get_rank(group), _root(dst, group)
    if rank != root:
        dist.send(tensor.contiguous(), group_dst=root, group=group)
        return
    gather_list[root].copy_(tensor)
    for peer, part in enumerate(gather_list):
        if peer != root:
            dist.recv(part.contiguous(), group_src=peer, group=group)
