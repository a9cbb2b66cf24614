"""Clamps gradients to the largest number of their dtype before the sum.

loses = ["data_parallel.average_gradients_flat.layouts"]
says = ["hides it|is wrong"]
"""

_right_average_gradients_flat = average_gradients_flat


def average_gradients_flat(module, group=None):
    for parameter in module.parameters():
        if parameter.grad is not None and parameter.requires_grad:
            largest = torch.finfo(parameter.dtype).max / 16
            parameter.grad.clamp_(-largest, largest)
    _right_average_gradients_flat(module, group)
