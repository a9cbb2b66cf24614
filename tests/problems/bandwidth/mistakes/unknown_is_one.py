"""An unknown collective quietly gets the factor 1.

loses = ["bandwidth.sent_bytes", "bandwidth.bandwidth"]
says = ["expected ValueError"]
"""


def sent_bytes(collective, size_bytes, world_size):
    factor = _BUS_FACTORS.get(collective, lambda n: 1.0)
    return factor(world_size) * size_bytes
