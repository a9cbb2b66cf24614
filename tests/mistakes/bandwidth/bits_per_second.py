"""Returns bits per second, the unit of a network card's label.

mistake = 22
loses = ["bandwidth.bandwidth", "bandwidth.benchmark"]
says = ["bits|bytes per second"]
"""


def bandwidth(collective, size_bytes, world_size, seconds):
    return 8 * sent_bytes(collective, size_bytes, world_size) / seconds
