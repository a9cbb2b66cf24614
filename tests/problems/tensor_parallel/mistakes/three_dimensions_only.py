"""The column-parallel layer unpacks its input as batch, sequence, features.

mistake = 35
loses = ["tensor_parallel.ColumnParallelLinear", "tensor_parallel.ParallelMLP"]
says = ["dimension|shape"]
"""


class ColumnParallelLinear(ColumnParallelLinear):
    def forward(self, x):
        batch, sequence, features = x.shape
        y = copy_to_region(x.reshape(batch * sequence, features), self.group) @ self.weight
        y = y.view(batch, sequence, -1)
        if self.bias is not None:
            y = y + self.bias
        return gather_from_region(y, self.group) if self.gather_output else y
