"""The flat tensor is allocated once and filled slice by slice, in reverse order of the parameters.

may_lose = []
"""


def average_gradients_flat(module, group=None):
    slots = {}
    for parameter in reversed(list(module.parameters())):
        if parameter.requires_grad:
            start, members = slots.get(parameter.dtype, (0, []))
            members.append((start, parameter))
            slots[parameter.dtype] = (start + parameter.numel(), members)
    for dtype, (length, members) in sorted(slots.items(), key=lambda item: str(item[0])):
        flat = torch.zeros(length, dtype=dtype, device=members[0][1].device)
        for start, parameter in members:
            if parameter.grad is not None:
                flat.narrow(0, start, parameter.numel()).view(parameter.shape).copy_(parameter.grad)
        dist.all_reduce(flat, group=group)
        flat.mul_(1 / dist.get_world_size(group))
        for start, parameter in members:
            parameter.grad = flat.narrow(0, start, parameter.numel()).view(parameter.shape)
