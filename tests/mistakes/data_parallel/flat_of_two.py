"""The flat sum is divided by 2, however many ranks there are.

mistake = 25
loses = ["data_parallel.average_gradients_flat"]
says = ['divided by 2']
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
            _unflatten_gradients(flat / 2, parameters)
