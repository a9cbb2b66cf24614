"""Gathers the whole weight in forward, and computes every column on every rank.

mistake = 36
loses = ["tensor_parallel.ColumnParallelLinear.traffic", "tensor_parallel.ParallelMLP.traffic"]
says = ["makes a whole weight"]
"""


class ColumnParallelLinear(ColumnParallelLinear):
    def forward(self, x):
        y = x @ gather_from_region(self.weight, self.group)
        if self.bias is not None:
            y = y + gather_from_region(self.bias, self.group)
        return y if self.gather_output else scatter_to_region(y, self.group)
