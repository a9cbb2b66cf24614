"""A backward written by hand sums the bias's gradient over two dimensions, whatever the input has.

mistake = 35
loses = ["tensor_parallel.ColumnParallelLinear", "tensor_parallel.ParallelMLP"]
says = ["dimension|shape"]
"""


class _AddBias(torch.autograd.Function):
    @staticmethod
    def forward(ctx, y, bias):
        return y + bias

    @staticmethod
    def backward(ctx, grad):
        return grad, grad.sum(dim=(0, 1))


class ColumnParallelLinear(ColumnParallelLinear):
    def forward(self, x):
        y = copy_to_region(x, self.group) @ self.weight
        if self.bias is not None:
            y = _AddBias.apply(y, self.bias)
        return gather_from_region(y, self.group) if self.gather_output else y
