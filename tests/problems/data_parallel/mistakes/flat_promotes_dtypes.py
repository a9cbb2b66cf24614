"""Gradients of all dtypes are put into one tensor, and float32 travels as float64.

mistake = 30
loses = ["data_parallel.average_gradients_flat.one_message"]
says = ['bytes']
"""


def average_gradients_flat(module, group=None):
    parameters = _trainable(module)
    if parameters:
        with torch.no_grad():
            flat = _flatten_gradients(parameters)
            dist.all_reduce(flat, group=group)
            _unflatten_gradients(flat / dist.get_world_size(group), parameters)
