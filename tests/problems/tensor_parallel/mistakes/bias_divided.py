"""Adds 1/n of the bias on every rank before the sum: right forward, but its gradient is 1/n too.

mistake = 37
loses = ["tensor_parallel.RowParallelLinear", "tensor_parallel.ParallelMLP"]
says = ["1/n of its gradient"]
"""


class RowParallelLinear(RowParallelLinear):
    def forward(self, x):
        if not self.input_is_parallel:
            x = scatter_to_region(x, self.group)
        y = x @ self.weight
        if self.bias is not None:
            y = y + self.bias / dist.get_world_size(self.group)
        return reduce_from_region(y, self.group)
