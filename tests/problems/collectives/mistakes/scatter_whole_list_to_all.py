"""scatter sends the whole list to everyone, and each rank picks its part.

loses = ["collectives.scatter.cost"]
says = ["bytes"]
"""


def scatter(tensor, scatter_list=None, src=0, group=None):
    rank, n, root = dist.get_rank(group), dist.get_world_size(group), _root(src, group)
    whole = torch.empty(n * tensor.numel(), dtype=tensor.dtype, device=tensor.device)
    if rank == root:
        torch.cat([_flat(part) for part in scatter_list], out=whole)
        for peer in range(n):
            if peer != root:
                dist.send(whole, group_dst=peer, group=group)
    else:
        dist.recv(whole, group_src=root, group=group)
    tensor.copy_(whole.tensor_split(n)[rank].view(tensor.shape))
