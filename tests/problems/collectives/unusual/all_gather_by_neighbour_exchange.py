"""all_gather by neighbour exchange: pairs of ranks swap what is new to them; an odd number of ranks uses a ring.

may_lose = ["collectives.all_gather.cost"]
"""


def all_gather(output, input, group=None):
    rank, n = dist.get_rank(group), dist.get_world_size(group)
    flat = _flat(output)
    blocks = flat.tensor_split(n)
    blocks[rank].copy_(_flat(input))
    if n % 2:
        _ring(blocks, rank, group)
        return _write_back(flat, output)
    _exchange({rank ^ 1: blocks[rank]}, {rank ^ 1: blocks[rank ^ 1]}, group)
    # From here on pairs of blocks travel; even ranks turn to the left and to the right in turn, odd ones the other way.
    side = 1 if rank % 2 else -1

    def pair(step):
        offset = (step + 1) // 2 * (side if step % 2 else -side)
        first = 2 * ((rank // 2 + offset) % (n // 2))
        return blocks[first], blocks[first + 1]

    for step in range(1, n // 2):
        partner = (rank + (side if step % 2 else -side)) % n
        for outgoing, incoming in zip(pair(step - 1), pair(step)):
            _exchange({partner: outgoing}, {partner: incoming}, group)
    _write_back(flat, output)
