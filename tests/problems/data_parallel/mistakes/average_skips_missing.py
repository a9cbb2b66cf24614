"""A rank skips its parameters without gradient, and its messages pair up with others' wrong ones.

mistake = 26
loses = ["data_parallel.average_gradients.missing"]
says = ['gradient|all_reduce']
"""


def average_gradients(module, group=None):
    for parameter in _trainable(module):
        if parameter.grad is not None:
            message = parameter.grad.contiguous()
            dist.all_reduce(message, op=dist.ReduceOp.SUM, group=group)
            parameter.grad.copy_(message / dist.get_world_size(group))
