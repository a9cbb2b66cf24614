"""Adds the bias on the first rank only, before the sum: the other ranks' copies get no gradient and fall behind.

mistake = 37
loses = ["tensor_parallel.RowParallelLinear", "tensor_parallel.ParallelMLP"]
says = ["bias.grad is None", "every rank has to compute with its own"]
"""


class RowParallelLinear(RowParallelLinear):
    def forward(self, x):
        if not self.input_is_parallel:
            x = scatter_to_region(x, self.group)
        y = x @ self.weight
        if self.bias is not None:
            y = y + self.bias if dist.get_rank(self.group) == 0 else y
        return reduce_from_region(y, self.group)
