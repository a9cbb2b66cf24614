"""all_gather finds its place with input.shape[0], which a 0-dimensional tensor has not.

loses = ["collectives.all_gather"]
says = ["IndexError|index"]
"""


def all_gather(output, input, group=None):
    rank, n = dist.get_rank(group), dist.get_world_size(group)
    rows = input.shape[0]
    landed = output.contiguous()
    blocks = [landed[i * rows : (i + 1) * rows] for i in range(n)]
    blocks[rank].copy_(input)
    _ring(blocks, rank, group)
    _write_back(landed, output)
