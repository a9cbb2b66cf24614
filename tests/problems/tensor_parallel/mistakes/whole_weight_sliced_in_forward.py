"""Every rank holds the whole weight and slices it in forward: no memory is saved.

mistake = 36
loses = ["tensor_parallel.ColumnParallelLinear", "tensor_parallel.ParallelMLP"]
says = ["not its share", "whole weight"]
"""


class ColumnParallelLinear(ColumnParallelLinear):
    def __init__(self, in_features, out_features, bias=True, gather_output=True, group=None):
        super().__init__(in_features, out_features, bias, gather_output, group)
        self.weight = nn.Parameter(torch.randn(in_features, out_features) / math.sqrt(in_features))

    def forward(self, x):
        y = copy_to_region(x, self.group) @ _own_slice(self.weight, self.group)
        if self.bias is not None:
            y = y + self.bias
        return gather_from_region(y, self.group) if self.gather_output else y
