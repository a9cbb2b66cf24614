"""Replaces what is not finite by zero before the sum: one rank's overflow is hidden from all.

loses = ["data_parallel.average_gradients.layouts"]
says = ["hides it"]
"""


def average_gradients(module, group=None):
    n = dist.get_world_size(group)
    for parameter in module.parameters():
        if not parameter.requires_grad:
            continue
        if parameter.grad is None:
            parameter.grad = torch.zeros_like(parameter)
        grad = torch.where(parameter.grad.isfinite(), parameter.grad, 0.0).contiguous()
        dist.all_reduce(grad, group=group)
        parameter.grad.copy_(grad / n)
