"""all_to_all sends every rank the whole input, and each picks its block.

loses = ["collectives.all_to_all.cost"]
says = ["bytes"]
"""

_all_to_all_of_blocks = all_to_all


def all_to_all(output, input, output_split_sizes=None, input_split_sizes=None, group=None):
    if output_split_sizes or input_split_sizes:
        return _all_to_all_of_blocks(output, input, output_split_sizes, input_split_sizes, group)
    rank, n = dist.get_rank(group), dist.get_world_size(group)
    wholes = torch.empty(n * input.numel(), dtype=input.dtype, device=input.device)
    all_gather(wholes, _flat(input), group)
    blocks = wholes.view(n, n, -1)[:, rank] if wholes.numel() else wholes
    output.copy_(blocks.reshape(output.shape))
