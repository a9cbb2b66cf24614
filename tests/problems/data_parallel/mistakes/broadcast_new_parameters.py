"""The received values become new Parameter objects, and the optimizer trains the old ones.

loses = ["data_parallel.broadcast_parameters", "data_parallel.DistributedDataParallel"]
says = ['same Parameter object']
"""


def broadcast_parameters(module, src=0, group=None):
    for owner in module.modules():
        for name, parameter in owner.named_parameters(recurse=False):
            message = parameter.detach().clone().contiguous()
            dist.broadcast(message, src=src, group=group)
            setattr(owner, name, nn.Parameter(message, requires_grad=parameter.requires_grad))
        for buffer in owner.buffers(recurse=False):
            message = buffer.contiguous()
            dist.broadcast(message, src=src, group=group)
            buffer.copy_(message)
