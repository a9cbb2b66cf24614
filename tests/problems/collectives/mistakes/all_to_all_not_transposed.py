"""all_to_all puts the block from rank i in place rank - i: right in the first place only.

loses = ["collectives.all_to_all"]
says = ["expected"]
"""

_all_to_all_as_it_should_be = all_to_all


def all_to_all(output, input, output_split_sizes=None, input_split_sizes=None, group=None):
    if output_split_sizes or input_split_sizes:
        return _all_to_all_as_it_should_be(output, input, output_split_sizes, input_split_sizes, group)
    rank, n = dist.get_rank(group), dist.get_world_size(group)
    landed = output.detach().contiguous()
    sends, receives = input.contiguous().tensor_split(n), landed.tensor_split(n)
    receives[0].copy_(sends[rank])
    for step in range(1, n):
        _exchange({(rank + step) % n: sends[(rank + step) % n]}, {(rank - step) % n: receives[step]}, group)
    _write_back(landed, output)
