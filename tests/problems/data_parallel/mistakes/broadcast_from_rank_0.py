"""The source is rank 0, whatever src says.

loses = ["data_parallel.broadcast_parameters"]
says = ['src']
"""


def broadcast_parameters(module, src=0, group=None):
    with torch.no_grad():
        source = 0 if group is None else dist.get_global_rank(group, 0)
        for tensor in [*module.parameters(), *module.buffers()]:
            message = tensor.detach().contiguous()
            dist.broadcast(message, src=source, group=group)
            tensor.copy_(message)
