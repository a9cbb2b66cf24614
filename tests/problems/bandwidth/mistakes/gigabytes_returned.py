"""Returns GB per second where bytes per second are asked for.

mistake = 22
loses = ["bandwidth.bandwidth", "bandwidth.benchmark"]
says = ["this is in GB"]
"""


def bandwidth(collective, size_bytes, world_size, seconds):
    return sent_bytes(collective, size_bytes, world_size) / seconds / 1e9
