"""gather orders the parts from the root on, its own one first: right for root 0 only.

loses = ["collectives.gather"]
says = ["expected"]
"""


def gather(tensor, gather_list=None, dst=0, group=None):
    rank, n, root = dist.get_rank(group), dist.get_world_size(group), _root(dst, group)
    if rank != root:
        dist.send(_flat(tensor), group_dst=root, group=group)
        return
    for place, part in enumerate(gather_list):
        if place == 0:
            part.copy_(tensor)
        else:
            flat = _flat(part)
            dist.recv(flat, group_src=(root + place) % n, group=group)
            _write_back(flat, part)
