"""Gradients are gathered from all ranks and summed at home, in rank order.

may_lose = []
"""


def average_gradients(module, group=None):
    world_size = dist.get_world_size(group)
    for parameter in module.parameters():
        if not parameter.requires_grad:
            continue
        mine = torch.zeros_like(parameter) if parameter.grad is None else parameter.grad
        mine = mine.contiguous()
        everyone = [torch.empty_like(mine) for _ in range(world_size)]
        dist.all_gather(everyone, mine, group=group)
        parameter.grad = torch.stack(everyone).mean(dim=0)
