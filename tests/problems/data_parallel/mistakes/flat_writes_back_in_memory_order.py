"""Pieces are written back in the gradient's memory order, which transposes a transposed one's.

mistake = 28
loses = ["data_parallel.average_gradients_flat.layouts"]
says = ['expected']
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
            pieces = (flat / world_size).split([parameter.numel() for parameter in parameters])
            for parameter, piece in zip(parameters, pieces):
                parameter.grad = piece.clone().as_strided(parameter.shape, parameter.stride())
