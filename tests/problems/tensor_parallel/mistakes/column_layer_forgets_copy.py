"""The column-parallel layer multiplies x straight away: its gradient is that of one slice of the weight.

mistake = 34
loses = ["tensor_parallel.ColumnParallelLinear", "tensor_parallel.ParallelMLP"]
says = ["gradient of x", "part of the gradient alone"]
"""


class ColumnParallelLinear(ColumnParallelLinear):
    def forward(self, x):
        y = x @ self.weight
        if self.bias is not None:
            y = y + self.bias
        return gather_from_region(y, self.group) if self.gather_output else y
