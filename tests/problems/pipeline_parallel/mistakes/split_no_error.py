"""A split over no stages at all gives an empty list instead of an error.

loses = ["pipeline_parallel.split_layers.edges"]
says = ["raised no ValueError"]
"""

_right_split_layers = split_layers


def split_layers(num_layers, num_stages):
    return _right_split_layers(num_layers, num_stages) if num_stages > 0 and num_layers >= 0 else []
