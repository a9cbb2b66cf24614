"""Rebinds each entry of the list to what was received, entry by entry.

loses = ["collectives.gather"]
says = ["never written into it", "caller holds the tensors"]
"""


def gather(tensor, gather_list=None, dst=0, group=None):
    rank, n = dist.get_rank(group), dist.get_world_size(group)
    root = dist.get_group_rank(group, dst) if group is not None else dst
    if rank != root:
        dist.send(tensor.contiguous(), dst, group=group)
        return
    for r in range(n):
        if r == rank:
            gather_list[r] = tensor.clone()
        else:
            gather_list[r] = torch.empty(tensor.shape, dtype=tensor.dtype)
            dist.recv(gather_list[r], dist.get_global_rank(group, r) if group is not None else r, group=group)
