"""The layers that do not divide belong to no stage.

loses = ["pipeline_parallel.split_layers"]
says = ["split_layers"]
"""


def split_layers(num_layers, num_stages):
    share = num_layers // num_stages
    return [range(s * share, (s + 1) * share) for s in range(num_stages)]
