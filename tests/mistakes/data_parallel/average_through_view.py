"""The gradient of a transposed parameter cannot be viewed as flat.

mistake = 28
loses = ["data_parallel.average_gradients.layouts"]
says = ['view']
"""


def average_gradients(module, group=None):
    for parameter in _trainable(module):
        message = _gradient(parameter).view(-1)
        dist.all_reduce(message, op=dist.ReduceOp.SUM, group=group)
        message /= dist.get_world_size(group)
