"""broadcast receives into a float32 buffer, whatever the dtype of the message.

loses = ["collectives.broadcast"]
says = ["receives it as float32"]
"""


def broadcast(tensor, src, group=None):
    rank, n, root = dist.get_rank(group), dist.get_world_size(group), _root(src, group)
    place = (rank - root) % n
    buffer = _flat(tensor).clone() if place == 0 else torch.zeros(tensor.numel(), device=tensor.device)
    have = 1
    while have < n:
        if place < have and place + have < n:
            dist.send(buffer, group_dst=(place + have + root) % n, group=group)
        elif have <= place < 2 * have:
            dist.recv(buffer, group_src=(place - have + root) % n, group=group)
        have *= 2
    tensor.copy_(buffer.view(tensor.shape))
