"""The group is ignored, so its members wait for ranks that never call.

loses = ["data_parallel.average_gradients"]
says = ['all_reduce']
"""


def average_gradients(module, group=None):
    for parameter in _trainable(module):
        message = _gradient(parameter).contiguous()
        dist.all_reduce(message, op=dist.ReduceOp.SUM)
        parameter.grad.copy_(message / dist.get_world_size())
