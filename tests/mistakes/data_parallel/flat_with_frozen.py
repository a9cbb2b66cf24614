"""Frozen parameters travel too, and get gradients.

mistake = 26
loses = ["data_parallel.average_gradients_flat.missing"]
says = ['frozen']
"""


def average_gradients_flat(module, group=None):
    by_dtype = {}
    for parameter in module.parameters():
        by_dtype.setdefault(parameter.dtype, []).append(parameter)
    with torch.no_grad():
        for parameters in by_dtype.values():
            flat = _flatten_gradients(parameters)
            dist.all_reduce(flat, group=group)
            _unflatten_gradients(flat / dist.get_world_size(group), parameters)
