"""Parameters are flattened with view, which a transposed one refuses.

mistake = 28
loses = ["data_parallel.broadcast_parameters.layouts", "data_parallel.DistributedDataParallel.networks"]
says = ['view']
"""


def broadcast_parameters(module, src=0, group=None):
    for tensor in [*module.parameters(), *module.buffers()]:
        dist.broadcast(tensor.detach().view(-1), src=src, group=group)
