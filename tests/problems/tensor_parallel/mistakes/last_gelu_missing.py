"""The lecture's network leaves out gelu after the last layer.

loses = ["tensor_parallel.column_parallel_forward"]
says = ["gelu is missing after the last"]
"""


def column_parallel_forward(x, weights, group=None):
    x = copy_to_region(x, group)
    for layer, weight in enumerate(weights):
        x = x @ weight
        last = layer == len(weights) - 1
        x = gather_from_region(x, group) if last else F.gelu(all_gather_from_region(x, group))
    return x
