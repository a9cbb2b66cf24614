"""The root of gather receives one part after the other, by blocking calls.

may_lose = []
"""


def gather(tensor, gather_list=None, dst=0, group=None):
    if dist.get_rank() != dst:
        dist.send(tensor.contiguous(), dst, group=group)
        return
    for peer, part in enumerate(gather_list):
        if peer == dist.get_rank(group):
            part.copy_(tensor)
        else:
            landed = torch.empty(part.shape, dtype=part.dtype, device=part.device)
            dist.recv(landed, group_src=peer, group=group)
            part.copy_(landed)
