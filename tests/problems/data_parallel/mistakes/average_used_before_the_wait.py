"""The all-reduces are asynchronous, and their buffers are read before the wait.

mistake = 31
loses = ["data_parallel.average_gradients"]
says = ['wait']
"""


def average_gradients(module, group=None):
    for parameter in _trainable(module):
        message = _gradient(parameter).contiguous().clone()
        work = dist.all_reduce(message, op=dist.ReduceOp.SUM, group=group, async_op=True)
        parameter.grad.copy_(message / dist.get_world_size(group))
        work.wait()
