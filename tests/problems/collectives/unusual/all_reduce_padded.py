"""all_reduce pads the tensor to a multiple of the ranks, runs a plain ring, and undoes the padding.

may_lose = ["collectives.all_reduce.cost", "collectives.all_reduce.scale"]
"""

import torch.nn.functional as F


def all_reduce(tensor: torch.Tensor, op=ReduceOp.SUM, group=None) -> None:
    combine = _combiner(op, tensor.dtype)
    rank, n = dist.get_rank(group), dist.get_world_size(group)
    right, left = (rank + 1) % n, (rank - 1) % n
    size = tensor.numel()
    padded = F.pad(tensor.reshape(-1), (0, -size % n)).clone()
    chunks = padded.view(n, -1)
    landed = torch.empty_like(chunks[0])
    for step in range(n - 1):
        sending = dist.isend(chunks[(rank - step) % n], group_dst=right, group=group)
        dist.irecv(landed, group_src=left, group=group).wait()
        sending.wait()
        own = chunks[(rank - step - 1) % n]
        own.copy_(combine(own, landed))
    for step in range(n - 1):
        sending = dist.isend(chunks[(rank + 1 - step) % n], group_dst=right, group=group)
        dist.irecv(chunks[(rank - step) % n], group_src=left, group=group).wait()
        sending.wait()
    if op == ReduceOp.AVG:
        padded.div_(n)
    tensor.copy_(padded[:size].view_as(tensor))
