"""The row-parallel bias is whole, but starts with other values on every rank.

loses = ["tensor_parallel.RowParallelLinear.shards"]
says = ["bias does not start at zero"]
"""


class RowParallelLinear(RowParallelLinear):
    def __init__(self, in_features, out_features, bias=True, input_is_parallel=False, group=None):
        super().__init__(in_features, out_features, bias, input_is_parallel, group)
        if bias:
            self.bias = nn.Parameter(_random_slice(in_features, 1, out_features, group).detach()[0])
