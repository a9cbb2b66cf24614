"""Zeros are sent for a missing gradient, but the sum is divided by the ranks that had one.

mistake = 26
loses = ["data_parallel.average_gradients.missing"]
says = ['divided by']
"""


def average_gradients(module, group=None):
    for parameter in _trainable(module):
        contributors = torch.tensor(float(parameter.grad is not None))
        message = _gradient(parameter).contiguous()
        dist.all_reduce(contributors, group=group)
        dist.all_reduce(message, group=group)
        parameter.grad.copy_(message / contributors.clamp(min=1))
