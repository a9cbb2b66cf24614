"""The group is ignored, so its members wait for ranks that never call.

loses = ["data_parallel.average_gradients_flat"]
says = ['all_reduce']
"""


def average_gradients_flat(module, group=None):
    world_size = dist.get_world_size(group)
    by_dtype = {}
    for parameter in _trainable(module):
        by_dtype.setdefault(parameter.dtype, []).append(parameter)
    with torch.no_grad():
        for parameters in by_dtype.values():

            flat = _flatten_gradients(parameters)
            dist.all_reduce(flat)
            _unflatten_gradients(flat / world_size, parameters)
