"""One rank of the group collects the sum, divides and tells the others.

may_lose = []
"""


def average_gradients(module, group=None, root=0):
    root = root if group is None else dist.get_global_rank(group, root)
    for parameter in module.parameters():
        if parameter.requires_grad:
            total = torch.zeros(parameter.shape, dtype=parameter.dtype, device=parameter.device)
            if parameter.grad is not None:
                total += parameter.grad
            dist.reduce(total, dst=root, group=group)
            if dist.get_rank() == root:
                total /= dist.get_world_size(group)
            dist.broadcast(total, src=root, group=group)
            parameter.grad = total
