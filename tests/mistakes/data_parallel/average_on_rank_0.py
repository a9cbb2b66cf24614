"""Only the first rank of the group gets the average.

loses = ["data_parallel.average_gradients"]
says = ['own gradient']
"""


def average_gradients(module, group=None):
    for parameter in _trainable(module):
        message = _gradient(parameter).contiguous().clone()
        first = 0 if group is None else dist.get_global_rank(group, 0)
        dist.reduce(message, dst=first, group=group)
        if dist.get_rank() == first:
            parameter.grad.copy_(message / dist.get_world_size(group))
