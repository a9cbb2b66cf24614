"""Seeds by the rank alone: every layer of a network starts with the same slice.

loses = ["tensor_parallel.ColumnParallelLinear.shards", "tensor_parallel.RowParallelLinear.shards"]
says = ["has the same values"]
"""


def _random_slice(in_features, rows, columns, group):
    bound = 1 / math.sqrt(in_features)
    generator = torch.Generator().manual_seed(dist.get_rank(group))
    return nn.Parameter(torch.empty(rows, columns).uniform_(-bound, bound, generator=generator))
