import os
import select
import tempfile

import torch
import torch.distributed as dist
from torch.distributed import ReduceOp

CALLS = [0]


def _all(tensor):
    rank, n = dist.get_rank(), dist.get_world_size()
    CALLS[0] += 1
    stem = f"{tempfile.gettempdir()}/{os.getppid()}-{n}-{CALLS[0]}"
    torch.save(tensor.clone(), f"{stem}-{rank}.part")
    os.rename(f"{stem}-{rank}.part", f"{stem}-{rank}")
    while not all(os.path.exists(f"{stem}-{peer}") for peer in range(n)):
        select.select([], [], [], 0.001)
    return [torch.load(f"{stem}-{peer}") for peer in range(n)]


def broadcast(tensor, src, group=None):
    tensor.copy_(_all(tensor)[src])


def all_reduce(tensor, op=ReduceOp.SUM, group=None):
    tensor.copy_(torch.stack(_all(tensor)).sum(0))
