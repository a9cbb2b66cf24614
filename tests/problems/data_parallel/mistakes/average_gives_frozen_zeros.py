"""Frozen parameters are given gradients of zero, so weight decay shrinks them.

mistake = 26
loses = ["data_parallel.average_gradients.missing"]
says = ['frozen']
"""


def average_gradients(module, group=None):
    for parameter in module.parameters():
        message = _gradient(parameter).contiguous()
        dist.all_reduce(message, op=dist.ReduceOp.SUM, group=group)
        parameter.grad.copy_(message / dist.get_world_size(group))
