"""Gradients are flattened with view, which a transposed one refuses.

mistake = 28
loses = ["data_parallel.average_gradients_flat.layouts"]
says = ['view']
"""


def average_gradients_flat(module, group=None):
    world_size = dist.get_world_size(group)
    by_dtype = {}
    for parameter in _trainable(module):
        by_dtype.setdefault(parameter.dtype, []).append(parameter)
    with torch.no_grad():
        for parameters in by_dtype.values():

            flat = torch.cat([_gradient(parameter).view(-1) for parameter in parameters])
            dist.all_reduce(flat, group=group)
            _unflatten_gradients(flat / world_size, parameters)
