"""reduce doubles its distance until it equals n, which it never does for 3 or 5 ranks.

loses = ["collectives.reduce"]
says = ["without end"]
"""


def reduce(tensor, dst, op=ReduceOp.SUM, group=None):
    combine = _combiner(op, tensor.dtype)
    n, root = dist.get_world_size(group), _root(dst, group)
    place = (dist.get_rank(group) - root) % n
    partial = _flat(tensor).clone()
    landed = torch.empty_like(partial)
    distance = 1
    while distance != n:
        if place % (2 * distance) == distance:
            dist.send(partial, group_dst=(place - distance + root) % n, group=group)
        elif place % (2 * distance) == 0 and place + distance < n:
            dist.recv(landed, group_src=(place + distance + root) % n, group=group)
            combine(partial, landed, out=partial)
        distance *= 2
    if place == 0:
        if op == ReduceOp.AVG:
            partial /= n
        tensor.copy_(partial.view(tensor.shape))
