"""A module with nothing to train crashes.

mistake = 26
loses = ["data_parallel.average_gradients_flat.missing", "data_parallel.average_gradients_flat.one_message"]
says = ['layers frozen linear']
"""


def average_gradients_flat(module, group=None):
    parameters = _trainable(module)
    by_dtype = {parameters[0].dtype: []}
    for parameter in parameters:
        by_dtype.setdefault(parameter.dtype, []).append(parameter)
    for parameters in by_dtype.values():
        flat = _flatten_gradients(parameters)
        dist.all_reduce(flat, group=group)
        _unflatten_gradients(flat / dist.get_world_size(group), parameters)
