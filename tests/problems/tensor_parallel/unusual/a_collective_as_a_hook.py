"""The layer's sum of input gradients is torch's all_reduce itself, as a hook that works in place on a fresh gradient.

may_lose = []
"""

import functools


class ColumnParallelLinear(ColumnParallelLinear):
    def forward(self, x):
        if x.requires_grad:
            x = x.view_as(x)
            x.register_hook(functools.partial(dist.all_reduce, group=self.group))
        y = x @ self.weight
        if self.bias is not None:
            y = y + self.bias
        return gather_from_region(y, self.group) if self.gather_output else y
