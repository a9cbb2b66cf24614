"""Every rank blocks in send before it receives.

mistake = 13
loses = ["collectives.all_gather"]
says = ["send", "wait"]
"""


def all_gather(output, input, group=None):
    rank, n = dist.get_rank(group), dist.get_world_size(group)
    flat = _flat(output)
    blocks = flat.tensor_split(n)
    blocks[rank].copy_(_flat(input))
    for step in range(n - 1):
        dist.send(blocks[(rank - step) % n], group_dst=(rank + 1) % n, group=group)
        dist.recv(blocks[(rank - step - 1) % n], group_src=(rank - 1) % n, group=group)
    _write_back(flat, output)
