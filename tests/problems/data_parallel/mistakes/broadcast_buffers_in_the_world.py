"""Parameters are broadcast in the group, buffers in the whole world.

loses = ["data_parallel.broadcast_parameters.buffers"]
says = ["."]
"""


def broadcast_parameters(module, src=0, group=None):
    with torch.no_grad():
        for tensor in module.parameters():
            whole = tensor.data.contiguous()
            dist.broadcast(whole, src, group=group)
            tensor.copy_(whole)
        for tensor in module.buffers():
            dist.broadcast(tensor, src)
