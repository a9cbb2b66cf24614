"""Every stage takes the share rounded up, so the last ones have little or nothing.

loses = ["pipeline_parallel.split_layers"]
says = ["not as even as possible"]
"""


def split_layers(num_layers, num_stages):
    share = -(-num_layers // num_stages)
    return [range(min(s * share, num_layers), min((s + 1) * share, num_layers)) for s in range(num_stages)]
