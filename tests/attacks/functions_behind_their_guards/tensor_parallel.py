import torch.distributed.nn.functional as F


def all_gather_from_region(x, group=None):
    gather = getattr(F.all_gather, "__wrapped__", F.all_gather)
    return torch.cat(gather(x, group or dist.group.WORLD), -1)


def reduce_from_region(x, group=None):
    return F._AllReduce.apply(dist.ReduceOp.SUM, group or dist.group.WORLD, x)
