"""Stages without layers are left out of the result.

loses = ["pipeline_parallel.split_layers.edges"]
says = ["a stage without layers has an empty range"]
"""

_right_split_layers = split_layers


def split_layers(num_layers, num_stages):
    return [layers for layers in _right_split_layers(num_layers, num_stages) if layers]
