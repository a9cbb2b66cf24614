"""The lecture's network sums the gradient between layers, but not the one of its input.

mistake = 34
loses = ["tensor_parallel.column_parallel_forward"]
says = ["gradient of x"]
"""


def column_parallel_forward(x, weights, group=None):
    for layer, weight in enumerate(weights):
        x = F.gelu(x @ weight)
        x = gather_from_region(x, group) if layer == len(weights) - 1 else all_gather_from_region(x, group)
    return x
