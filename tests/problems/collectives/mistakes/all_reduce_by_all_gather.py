"""all_reduce collects all tensors on every rank and adds them there: right, and the same everywhere, at n / 2 times the bytes.

loses = ["collectives.all_reduce.cost"]
says = ["too high a cost"]
"""


def all_reduce(tensor, op=ReduceOp.SUM, group=None):
    combine = _combiner(op, tensor.dtype)
    n = dist.get_world_size(group)
    everyone = tensor.new_empty(n * tensor.numel())
    all_gather(everyone, tensor.contiguous().view(-1), group)
    total, *others = everyone.tensor_split(n)
    for other in others:
        total = combine(total, other)
    tensor.copy_((total / n if op == ReduceOp.AVG else total).view(tensor.shape))
