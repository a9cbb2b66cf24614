"""The group is ignored, so its members wait for ranks that never call.

loses = ["data_parallel.broadcast_parameters", "data_parallel.DistributedDataParallel"]
says = ['broadcast']
"""


def broadcast_parameters(module, src=0, group=None):
    with torch.no_grad():
        for tensor in [*module.parameters(), *module.buffers()]:
            message = tensor.detach().contiguous()
            dist.broadcast(message, src=src)
            tensor.copy_(message)
