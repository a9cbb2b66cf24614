"""gather compares the rank in the group with the global rank of the root, which may be nobody.

loses = ["collectives.gather"]
says = ["group"]
"""


def gather(tensor, gather_list=None, dst=0, group=None):
    if dist.get_rank(group) != dst:
        dist.send(_flat(tensor), dst=dst, group=group)
        return
    for peer, part in enumerate(gather_list):
        if peer == dst:
            part.copy_(tensor)
        else:
            flat = _flat(part)
            dist.recv(flat, group_src=peer, group=group)
            _write_back(flat, part)
