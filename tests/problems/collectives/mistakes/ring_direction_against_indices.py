"""The ring of all_gather runs to the left with the block numbers of a ring to the right.

mistake = 2
loses = ["collectives.all_gather"]
says = ["expected"]
"""


def all_gather(output, input, group=None):
    rank, n = dist.get_rank(group), dist.get_world_size(group)
    flat = _flat(output)
    blocks = flat.tensor_split(n)
    blocks[rank].copy_(_flat(input))
    for step in range(n - 1):
        outgoing, incoming = blocks[(rank - step) % n], blocks[(rank - step - 1) % n]
        _exchange({(rank - 1) % n: outgoing}, {(rank + 1) % n: incoming}, group)
    _write_back(flat, output)
