"""all_reduce makes a padded buffer of zeros, and never copies the tensor into it.

mistake = 8
loses = ["collectives.all_reduce"]
says = ["expected"]
"""


def all_reduce(tensor, op=ReduceOp.SUM, group=None):
    combine = _combiner(op, tensor.dtype)
    rank, n = dist.get_rank(group), dist.get_world_size(group)
    size = tensor.numel()
    padded = torch.zeros(size + (-size) % n, dtype=tensor.dtype, device=tensor.device)
    chunks = padded.tensor_split(n)
    _ring(chunks, rank, group, combine)
    _ring(chunks, rank + 1, group)
    if op == ReduceOp.AVG:
        padded /= n
    tensor.copy_(padded[:size].view(tensor.shape))
