"""all_gather broadcasts each rank's block in turn.

may_lose = ["collectives.all_gather.cost"]
"""


def all_gather(output, input, group=None):
    rank, n = dist.get_rank(group), dist.get_world_size(group)
    flat = _flat(output)
    for peer, block in enumerate(flat.tensor_split(n)):
        if peer == rank:
            block.copy_(_flat(input))
        broadcast(block, dist.get_global_rank(group or dist.group.WORLD, peer), group)
    _write_back(flat, output)
