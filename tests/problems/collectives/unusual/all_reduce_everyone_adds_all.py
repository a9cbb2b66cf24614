"""Each rank collects all tensors and adds them in the order of the ranks: the same bits everywhere, at a price.

may_lose = ["collectives.all_reduce.cost", "collectives.all_reduce.scale"]
thorough = true
"""


def all_reduce(tensor, op=ReduceOp.SUM, group=None):
    combine = _combiner(op, tensor.dtype)
    n = dist.get_world_size(group)
    mine = _flat(tensor)
    everyone = mine.new_empty(n * mine.numel())
    all_gather(everyone, mine, group)
    total, *others = everyone.tensor_split(n)
    for other in others:
        total = combine(total, other)
    tensor.copy_((total / n if op == ReduceOp.AVG else total).view(tensor.shape))
