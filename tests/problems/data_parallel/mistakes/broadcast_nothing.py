"""Ranks keep the parameters that they happened to start with.

mistake = 24
loses = ["data_parallel.broadcast_parameters", "data_parallel.DistributedDataParallel"]
says = ['own value']
"""


def broadcast_parameters(module, src=0, group=None):
    return None
