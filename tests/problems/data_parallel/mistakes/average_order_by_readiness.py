"""Parameters with a gradient go first: ranks that miss different ones add up different parameters.

mistake = 26
loses = ["data_parallel.average_gradients.missing"]
says = ['gradient|all_reduce']
"""


def average_gradients(module, group=None):
    parameters = sorted(_trainable(module), key=lambda parameter: parameter.grad is None)
    for parameter in parameters:
        message = _gradient(parameter).contiguous()
        dist.all_reduce(message, op=dist.ReduceOp.SUM, group=group)
        parameter.grad.copy_(message / dist.get_world_size(group))
