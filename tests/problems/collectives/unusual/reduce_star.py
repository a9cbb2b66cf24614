"""The root of reduce collects everybody's tensor and stacks them up.

may_lose = ["collectives.reduce.cost"]
"""


def reduce(tensor, dst, op=ReduceOp.SUM, group=None):
    combine = _combiner(op, tensor.dtype)
    everyone = [torch.empty_like(tensor) for _ in range(dist.get_world_size(group))]
    gather(tensor, everyone if dist.get_rank() == dst else None, dst, group)
    if dist.get_rank() == dst:
        total = everyone.pop()
        while everyone:
            total = combine(total, everyone.pop())
        tensor.copy_(total / dist.get_world_size(group) if op == ReduceOp.AVG else total)
