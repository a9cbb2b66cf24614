"""Receives into new tensors and puts those into the list: the tensors that the caller passed stay as they were.

loses = ["collectives.gather"]
says = ["never written into it", "caller holds the tensors"]
"""


def gather(tensor, gather_list=None, dst=0, group=None):
    rank, n = dist.get_rank(group), dist.get_world_size(group)
    root = dist.get_group_rank(group, dst) if group is not None else dst
    if rank != root:
        dist.send(tensor.contiguous(), dst, group=group)
        return
    received = [tensor.clone() if r == rank else torch.empty(tensor.shape, dtype=tensor.dtype) for r in range(n)]
    for r in range(n):
        if r != rank:
            dist.recv(received[r], dist.get_global_rank(group, r) if group is not None else r, group=group)
    gather_list[:] = received
