"""Values are exchanged through .data and received into new tensors of the same storage layout.

may_lose = []
"""


def broadcast_parameters(module, src=0, group=None):
    for _, tensor in sorted([*module.named_parameters(), *module.named_buffers()], key=lambda item: item[0]):
        values = torch.empty(tensor.shape, dtype=tensor.dtype, device=tensor.device)
        if dist.get_rank() == src:
            values.copy_(tensor.data)
        work = dist.broadcast(values, src=src, group=group, async_op=True)
        work.wait()
        tensor.data.copy_(values)
