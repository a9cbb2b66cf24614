"""Sums are shared before they are divided: who owns a chunk multiplies by 1 / n, the others divide by n.

loses = ["collectives.all_reduce.lockstep"]
says = ["last bits"]
"""

_all_reduce_without_owners = all_reduce


def all_reduce(tensor, op=ReduceOp.SUM, group=None):
    if op != ReduceOp.AVG or not tensor.is_floating_point():
        return _all_reduce_without_owners(tensor, op, group)
    _all_reduce_without_owners(tensor, ReduceOp.SUM, group)
    n, flat = dist.get_world_size(group), _flat(tensor)
    own = flat.tensor_split(n)[(dist.get_rank(group) + 1) % n]
    average = own * (1 / n)
    flat /= n
    own.copy_(average)
    _write_back(flat, tensor)
