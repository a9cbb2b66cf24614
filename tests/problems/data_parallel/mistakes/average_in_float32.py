"""Every gradient is averaged in float32.

loses = ["data_parallel.average_gradients"]
says = ['rounding|precision|dtype']
"""


def average_gradients(module, group=None):
    for parameter in _trainable(module):
        message = _gradient(parameter).float().contiguous()
        dist.all_reduce(message, op=dist.ReduceOp.SUM, group=group)
        parameter.grad.copy_(message / dist.get_world_size(group))
