"""all_gather sends every element in a message of its own.

loses = ["collectives.all_gather.cost"]
says = ["messages"]
"""


def all_gather(output, input, group=None):
    rank, n = dist.get_rank(group), dist.get_world_size(group)
    flat = _flat(output)
    blocks = flat.tensor_split(n)
    blocks[rank].copy_(_flat(input))
    for step in range(n - 1):
        outgoing, incoming = blocks[(rank - step) % n], blocks[(rank - step - 1) % n]
        for k in range(outgoing.numel()):
            _exchange({(rank + 1) % n: outgoing[k]}, {(rank - 1) % n: incoming[k]}, group)
    _write_back(flat, output)
