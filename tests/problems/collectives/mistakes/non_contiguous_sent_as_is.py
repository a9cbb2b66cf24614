"""broadcast hands the tensor to send and recv as it is, which both refuse when it is not contiguous.

mistake = 15
loses = ["collectives.broadcast"]
says = ["contiguous"]
"""


def broadcast(tensor, src, group=None):
    n, root = dist.get_world_size(group), _root(src, group)
    place = (dist.get_rank(group) - root) % n
    have = 1
    while have < n:
        if place < have and place + have < n:
            dist.send(tensor, group_dst=(place + have + root) % n, group=group)
        elif have <= place < 2 * have:
            dist.recv(tensor, group_src=(place - have + root) % n, group=group)
        have *= 2
