"""Adds the bias on every rank before the sum: it counts n times.

mistake = 37
loses = ["tensor_parallel.RowParallelLinear", "tensor_parallel.ParallelMLP"]
says = ["bias counts . times"]
"""


class RowParallelLinear(RowParallelLinear):
    def forward(self, x):
        if not self.input_is_parallel:
            x = scatter_to_region(x, self.group)
        y = x @ self.weight
        if self.bias is not None:
            y = y + self.bias
        return reduce_from_region(y, self.group)
