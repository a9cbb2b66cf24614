"""broadcast splits the ranks in halves again and again, recursively, the first of each half being its root.

may_lose = ["collectives.broadcast.cost"]
"""


def broadcast(tensor, src, group=None):
    n, root = dist.get_world_size(group), _root(src, group)
    flat = _flat(tensor)
    me = (dist.get_rank(group) - root) % n

    def spread(first, last):
        if last - first < 2:
            return
        middle = (first + last + 1) // 2
        if me == first:
            dist.send(flat, group_dst=(middle + root) % n, group=group)
        elif me == middle:
            dist.recv(flat, group_src=(first + root) % n, group=group)
        spread(first, middle) if me < middle else spread(middle, last)

    spread(0, n)
    if me != 0:
        _write_back(flat, tensor)
