"""Draws the slice from the default generator, which scripts seed alike: all ranks start with the same slice.

loses = ["tensor_parallel.ColumnParallelLinear.shards", "tensor_parallel.RowParallelLinear.shards"]
says = ["has the same values"]
"""


def _random_slice(in_features, rows, columns, group):
    bound = 1 / math.sqrt(in_features)
    return nn.Parameter(torch.empty(rows, columns).uniform_(-bound, bound))
