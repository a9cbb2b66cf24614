"""A rank without a gradient sends zeros but does not keep the average.

mistake = 26
loses = ["data_parallel.average_gradients.missing"]
says = ['None']
"""


def average_gradients(module, group=None):
    for parameter in _trainable(module):
        had_none = parameter.grad is None
        message = _gradient(parameter).contiguous()
        dist.all_reduce(message, op=dist.ReduceOp.SUM, group=group)
        parameter.grad = None if had_none else message / dist.get_world_size(group)
