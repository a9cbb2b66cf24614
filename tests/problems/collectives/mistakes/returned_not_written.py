"""all_gather returns the result instead of writing it into output.

loses = ["collectives.all_gather"]
says = ["expected"]
"""


def all_gather(output, input, group=None):
    rank, n = dist.get_rank(group), dist.get_world_size(group)
    blocks = [torch.empty_like(_flat(input)) for _ in range(n)]
    blocks[rank].copy_(_flat(input))
    _ring(blocks, rank, group)
    return torch.cat(blocks).view(output.shape)
