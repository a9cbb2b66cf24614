"""The sum over the ranks is never divided.

mistake = 25
loses = ["data_parallel.average_gradients"]
says = ['not divided']
"""


def average_gradients(module, group=None):
    for parameter in _trainable(module):
        message = _gradient(parameter).contiguous()
        dist.all_reduce(message, op=dist.ReduceOp.SUM, group=group)
        parameter.grad.copy_(message)
