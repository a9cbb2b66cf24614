"""The slice is a view into the whole weight, which therefore stays in memory.

mistake = 36
loses = ["tensor_parallel.ColumnParallelLinear.shards"]
says = ["keeps more than its share"]
"""


class ColumnParallelLinear(ColumnParallelLinear):
    def __init__(self, in_features, out_features, bias=True, gather_output=True, group=None):
        super().__init__(in_features, out_features, bias, gather_output, group)
        whole = torch.empty(in_features, out_features).uniform_(-1, 1) / math.sqrt(in_features)
        local = self.weight.shape[1]
        self.weight = nn.Parameter(whole.narrow(1, dist.get_rank(group) * local, local))
