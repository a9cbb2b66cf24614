"""The gradient of a transposed parameter is averaged in a contiguous copy, and never written back.

mistake = 28
loses = ["data_parallel.average_gradients.layouts"]
says = ['own gradient']
"""


def average_gradients(module, group=None):
    for parameter in _trainable(module):
        message = _gradient(parameter).contiguous()
        dist.all_reduce(message, op=dist.ReduceOp.SUM, group=group)
        message /= dist.get_world_size(group)
