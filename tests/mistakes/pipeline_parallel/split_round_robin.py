"""The layers are dealt out in turn, so a stage's layers are not neighbours.

loses = ["pipeline_parallel.split_layers"]
says = ["split_layers"]
"""


def split_layers(num_layers, num_stages):
    return [range(s, num_layers, num_stages) for s in range(num_stages)]
