"""A transposed parameter is received into a contiguous copy, which is then dropped.

mistake = 28
loses = ["data_parallel.broadcast_parameters.layouts", "data_parallel.DistributedDataParallel.networks"]
says = ['own value']
"""


def broadcast_parameters(module, src=0, group=None):
    for tensor in [*module.parameters(), *module.buffers()]:
        dist.broadcast(tensor.detach().contiguous(), src=src, group=group)
