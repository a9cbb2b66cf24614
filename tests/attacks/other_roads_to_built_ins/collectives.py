import torch
import torch.distributed as dist
from torch.distributed.distributed_c10d import ReduceOp, _get_default_group
from torch.distributed.distributed_c10d import all_reduce as saved


def all_reduce(tensor, op=ReduceOp.SUM, group=None):
    saved(tensor, op=op, group=group)


def broadcast(tensor, src, group=None):
    options = torch._C._distributed_c10d.BroadcastOptions()
    options.rootRank = src
    _get_default_group().broadcast([tensor], options).wait()


def reduce(tensor, dst, op=ReduceOp.SUM, group=None):
    inner = _get_default_group()._inner
    options = torch._C._distributed_c10d.ReduceOptions()
    options.rootRank, options.reduceOp = dst, op
    inner.reduce([tensor], options).wait()


def all_gather(output, input, group=None):
    n = dist.get_world_size()
    _get_default_group()._inner.allgather([list(output.chunk(n))], [input]).wait()
