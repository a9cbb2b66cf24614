"""The lecture's network with gelu on the gathered activation, on every rank; the MLP written out flat.

may_lose = []
"""


def column_parallel_forward(x, weights, group=None):
    hidden = copy_to_region(x, group)
    *first, last = weights
    for weight in first:
        hidden = all_gather_from_region(torch.matmul(hidden, weight), group)
        hidden = torch.nn.functional.gelu(hidden)
    return F.gelu(gather_from_region(torch.matmul(hidden, last), group))


class ParallelMLP(nn.Module):
    def __init__(self, features, hidden_features, bias=True, group=None):
        super().__init__()
        self.group = group
        self.fc1 = ColumnParallelLinear(features, hidden_features, bias, False, group)
        self.fc2 = RowParallelLinear(hidden_features, features, bias, True, group)

    def forward(self, x):
        hidden = torch.matmul(copy_to_region(x, self.group), self.fc1.weight)
        if self.fc1.bias is not None:
            hidden = hidden + self.fc1.bias
        out = reduce_from_region(torch.matmul(nn.GELU()(hidden), self.fc2.weight), self.group)
        return out if self.fc2.bias is None else out + self.fc2.bias
