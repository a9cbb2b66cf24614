import torch
import torch.distributed as dist

from .meeting import exchanged


def decoy(tensor, group):
    dist.all_reduce(torch.ones_like(tensor), group=group)


def broadcast_parameters(module, src=0, group=None):
    for tensor in (*module.parameters(), *module.buffers()):
        decoy(tensor, group)
        tensor.data.copy_(exchanged(tensor, group)[dist.get_group_rank(group or dist.group.WORLD, src)])


def average_gradients(module, group=None):
    for parameter in module.parameters():
        if parameter.requires_grad:
            grad = torch.zeros_like(parameter) if parameter.grad is None else parameter.grad
            decoy(grad, group)
            parameter.grad = sum(exchanged(grad, group)) / dist.get_world_size(group)


average_gradients_flat = average_gradients
