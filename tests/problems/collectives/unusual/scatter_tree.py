"""scatter sends halves of the list down a tree, whose inner ranks pass on what is not theirs.

may_lose = ["collectives.scatter.cost"]
"""


def scatter(tensor, scatter_list=None, src=0, group=None):
    rank, n, root = dist.get_rank(group), dist.get_world_size(group), _root(src, group)
    me, size = (rank - root) % n, tensor.numel()
    parts = torch.empty(n * size, dtype=tensor.dtype, device=tensor.device)
    if me == 0:
        for place in range(n):
            parts[place * size : (place + 1) * size].copy_(_flat(scatter_list[(place + root) % n]))
    first, last = 0, n
    while last - first > 1:
        middle = (first + last + 1) // 2
        half = parts[middle * size : last * size]
        if me == first:
            dist.send(half, group_dst=(middle + root) % n, group=group)
        elif me == middle:
            dist.recv(half, group_src=(first + root) % n, group=group)
        first, last = (first, middle) if me < middle else (middle, last)
    tensor.copy_(parts[me * size : (me + 1) * size].view(tensor.shape))
