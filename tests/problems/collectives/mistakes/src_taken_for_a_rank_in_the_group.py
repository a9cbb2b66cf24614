"""broadcast takes src, a global rank, for a rank in the group.

loses = ["collectives.broadcast"]
says = ["group"]
"""


def broadcast(tensor, src, group=None):
    rank, n = dist.get_rank(group), dist.get_world_size(group)
    root = src % n
    place = (rank - root) % n
    flat = _flat(tensor)
    have = 1
    while have < n:
        if place < have and place + have < n:
            dist.send(flat, group_dst=(place + have + root) % n, group=group)
        elif have <= place < 2 * have:
            dist.recv(flat, group_src=(place - have + root) % n, group=group)
        have *= 2
    _write_back(flat, tensor)
