"""reduce_from_region overwrites its input with the sum.

loses = ["tensor_parallel.reduce_from_region"]
says = ["input x was changed"]
"""


class _ReduceFrom(_ReduceFrom):
    @staticmethod
    def forward(ctx, x, group):
        total = x.contiguous()
        dist.all_reduce(total, group=group)
        return total.clone()
