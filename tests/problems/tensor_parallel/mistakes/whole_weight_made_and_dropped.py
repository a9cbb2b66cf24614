"""Every rank makes the whole weight, keeps a copy of its slice and drops the rest: too large a layer cannot start.

mistake = 36
loses = ["tensor_parallel.RowParallelLinear.shards"]
says = ["makes more than its share", "whole weight"]
"""


class RowParallelLinear(RowParallelLinear):
    def __init__(self, in_features, out_features, bias=True, input_is_parallel=False, group=None):
        super().__init__(in_features, out_features, bias, input_is_parallel, group)
        whole = torch.empty(in_features, out_features).uniform_(-1, 1) / math.sqrt(in_features)
        self.weight = nn.Parameter(whole.chunk(dist.get_world_size(group))[dist.get_rank(group)].clone())
