"""All the layers that are left over go to the last stage.

loses = ["pipeline_parallel.split_layers"]
says = ["split_layers"]
"""


def split_layers(num_layers, num_stages):
    share = num_layers // num_stages
    stops = [s * share for s in range(num_stages)] + [num_layers]
    return [range(a, b) for a, b in zip(stops, stops[1:])]
