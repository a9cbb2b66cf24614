import torch
import torch.distributed as dist

from .meeting import exchanged


def broadcast_parameters(module, src=0, group=None):
    for tensor in (*module.parameters(), *module.buffers()):
        tensor.data.copy_(exchanged(tensor, group)[0])


def average_gradients(module, group=None):
    for parameter in module.parameters():
        if parameter.requires_grad:
            grad = torch.zeros_like(parameter) if parameter.grad is None else parameter.grad
            parameter.grad = sum(exchanged(grad, group)) / dist.get_world_size(group)


average_gradients_flat = average_gradients
