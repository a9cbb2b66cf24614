"""All tensors of a dtype are broadcast as one flat message, buffers and parameters together.

may_lose = []
"""


@torch.no_grad()
def broadcast_parameters(module, src=0, group=None):
    by_dtype = {}
    for tensor in list(module.buffers()) + list(module.parameters()):
        by_dtype.setdefault(tensor.dtype, []).append(tensor)
    for tensors in by_dtype.values():
        flat = torch.cat([tensor.detach().reshape(-1) for tensor in tensors])
        dist.broadcast(flat, src, group)
        start = 0
        for tensor in tensors:
            tensor.copy_(flat[start : start + tensor.numel()].reshape(tensor.shape))
            start += tensor.numel()
