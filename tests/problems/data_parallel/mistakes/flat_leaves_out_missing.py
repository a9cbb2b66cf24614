"""Parameters without a gradient are left out of the flat tensor, whose length then differs by rank.

mistake = 26
loses = ["data_parallel.average_gradients_flat.missing"]
says = ['all_reduce|elements|bytes|gradient']
"""


def average_gradients_flat(module, group=None):
    world_size = dist.get_world_size(group)
    by_dtype = {}
    for parameter in _trainable(module):
        if parameter.grad is not None:
            by_dtype.setdefault(parameter.dtype, []).append(parameter)
    for parameters in by_dtype.values():
        flat = _flatten_gradients(parameters)
        dist.all_reduce(flat, group=group)
        _unflatten_gradients(flat / world_size, parameters)
