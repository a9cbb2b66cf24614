"""The state dict is broadcast, and buffers that are not saved in it are missed.

mistake = 24
loses = ["data_parallel.broadcast_parameters.buffers", "data_parallel.DistributedDataParallel.networks"]
says = ['buffer']
"""


def broadcast_parameters(module, src=0, group=None):
    with torch.no_grad():
        for tensor in module.state_dict().values():
            message = tensor.contiguous()
            dist.broadcast(message, src=src, group=group)
            tensor.copy_(message)
