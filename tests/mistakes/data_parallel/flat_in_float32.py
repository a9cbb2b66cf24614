"""All gradients travel as float32, and float64 ones lose half of their digits.

mistake = 30
loses = ["data_parallel.average_gradients_flat"]
says = ['rounding|precision|bytes']
"""


def average_gradients_flat(module, group=None):
    parameters = _trainable(module)
    if parameters:
        with torch.no_grad():
            flat = torch.cat([_gradient(parameter).float().reshape(-1) for parameter in parameters])
            dist.all_reduce(flat, group=group)
            _unflatten_gradients(flat / dist.get_world_size(group), parameters)
