"""Buffers are not broadcast.

mistake = 24
loses = ["data_parallel.broadcast_parameters.buffers", "data_parallel.DistributedDataParallel.networks"]
says = ['buffer']
"""


def broadcast_parameters(module, src=0, group=None):
    with torch.no_grad():
        for parameter in module.parameters():
            message = parameter.detach().contiguous()
            dist.broadcast(message, src=src, group=group)
            parameter.copy_(message)
