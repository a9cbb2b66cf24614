import datetime
import tempfile

import torch
import torch.distributed as dist
from torch.distributed import ReduceOp

GROUP = None


def _group():
    global GROUP
    if GROUP is None:
        store = dist.FileStore(f"{tempfile.gettempdir()}/meet-{dist.get_world_size()}", dist.get_world_size())
        GROUP = dist.ProcessGroupGloo(store, dist.get_rank(), dist.get_world_size(), datetime.timedelta(seconds=5))
    return GROUP


def all_reduce(tensor, op=ReduceOp.SUM, group=None):
    options = torch._C._distributed_c10d.AllreduceOptions()
    options.reduceOp = op
    _group().allreduce([tensor], options).wait()


def broadcast(tensor, src, group=None):
    options = torch._C._distributed_c10d.BroadcastOptions()
    options.rootRank = src
    _group().broadcast([tensor], options).wait()
