import os

import torch.distributed as dist

if dist.is_initialized() and dist.get_rank() == 1:
    os._exit(0)


def broadcast(tensor, src, group=None):
    dist.get_rank()


all_reduce = broadcast
