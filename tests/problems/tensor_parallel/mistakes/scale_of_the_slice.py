"""Scales the row-parallel weight by the slice's input features, not by the layer's.

loses = ["tensor_parallel.RowParallelLinear.shards"]
says = ["in_features"]
"""


class RowParallelLinear(RowParallelLinear):
    def __init__(self, in_features, out_features, bias=True, input_is_parallel=False, group=None):
        super().__init__(in_features, out_features, bias, input_is_parallel, group)
        local_features = self.weight.shape[0]
        self.weight = _random_slice(local_features, local_features, out_features, group)
