"""reduce leaves partial sums in the tensors of the ranks in the middle of the tree.

mistake = 17
loses = ["collectives.reduce"]
says = ["expected|input|unharmed"]
"""


def reduce(tensor, dst, op=ReduceOp.SUM, group=None):
    combine = _combiner(op, tensor.dtype)
    n, root = dist.get_world_size(group), _root(dst, group)
    place = (dist.get_rank(group) - root) % n
    partial = _flat(tensor)
    landed = torch.empty_like(partial)
    distance = 1
    while distance < n and place % distance == 0:
        if place % (2 * distance) == distance:
            dist.send(partial, group_dst=(place - distance + root) % n, group=group)
        elif place + distance < n:
            dist.recv(landed, group_src=(place + distance + root) % n, group=group)
            combine(partial, landed, out=partial)
        distance *= 2
    if place == 0 and op == ReduceOp.AVG:
        partial /= n
    _write_back(partial, tensor)
