"""The sum over a group is divided by the size of the world.

mistake = 25
loses = ["data_parallel.average_gradients"]
says = ['size of the world|divided by']
"""


def average_gradients(module, group=None):
    for parameter in _trainable(module):
        message = _gradient(parameter).contiguous()
        dist.all_reduce(message, op=dist.ReduceOp.SUM, group=group)
        parameter.grad.copy_(message / dist.get_world_size())
