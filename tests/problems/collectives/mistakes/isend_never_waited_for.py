"""all_gather sends from one buffer that it overwrites in every step, and never waits for a send.

mistake = 14
loses = ["collectives.all_gather"]
says = ["wait"]
"""


def all_gather(output, input, group=None):
    rank, n = dist.get_rank(group), dist.get_world_size(group)
    flat = _flat(output)
    blocks = flat.tensor_split(n)
    travelling = _flat(input).clone()
    landed = torch.empty_like(travelling)
    blocks[rank].copy_(travelling)
    for step in range(n - 1):
        dist.isend(travelling, group_dst=(rank + 1) % n, group=group)
        dist.recv(landed, group_src=(rank - 1) % n, group=group)
        travelling.copy_(landed)
        blocks[(rank - step - 1) % n].copy_(landed)
    _write_back(flat, output)
