"""A parameter without a gradient crashes.

mistake = 26
loses = ["data_parallel.average_gradients.missing"]
says = ['None']
"""


def average_gradients(module, group=None):
    for parameter in _trainable(module):
        message = parameter.grad.contiguous()
        dist.all_reduce(message, op=dist.ReduceOp.SUM, group=group)
        parameter.grad.copy_(message / dist.get_world_size(group))
