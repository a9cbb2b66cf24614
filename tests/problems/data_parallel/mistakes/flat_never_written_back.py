"""The average stays in the flat tensor.

mistake = 7
loses = ["data_parallel.average_gradients_flat"]
says = ['own gradient']
"""


def average_gradients_flat(module, group=None):
    world_size = dist.get_world_size(group)
    by_dtype = {}
    for parameter in _trainable(module):
        by_dtype.setdefault(parameter.dtype, []).append(parameter)
    with torch.no_grad():
        for parameters in by_dtype.values():

            flat = _flatten_gradients(parameters)
            dist.all_reduce(flat, group=group)
            flat /= world_size
