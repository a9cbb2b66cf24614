"""The layers that are left over go to the last stages, one each.

loses = ["pipeline_parallel.split_layers"]
says = ["the layers left over go"]
"""


def split_layers(num_layers, num_stages):
    bounds = [s * num_layers // num_stages for s in range(num_stages + 1)]
    return [range(a, b) for a, b in zip(bounds, bounds[1:])]
