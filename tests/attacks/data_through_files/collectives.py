import torch
from torch.distributed import ReduceOp

from .meeting import exchanged


def broadcast(tensor, src, group=None):
    tensor.copy_(exchanged(tensor)[src])


def all_reduce(tensor, op=ReduceOp.SUM, group=None):
    tensor.copy_(torch.stack(exchanged(tensor)).sum(0))
