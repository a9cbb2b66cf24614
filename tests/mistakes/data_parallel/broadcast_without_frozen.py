"""Only what is trained is broadcast: frozen parameters differ by rank.

mistake = 24
loses = ["data_parallel.broadcast_parameters.layouts", "data_parallel.DistributedDataParallel.networks"]
says = ['own value']
"""


def broadcast_parameters(module, src=0, group=None):
    with torch.no_grad():
        for tensor in [*_trainable(module), *module.buffers()]:
            message = tensor.detach().contiguous()
            dist.broadcast(message, src=src, group=group)
            tensor.copy_(message)
