"""The lecture's sent_bytes, of all ranks together, held against the time of one.

mistake = 21
loses = ["bandwidth.sent_bytes", "bandwidth.bandwidth", "bandwidth.benchmark"]
says = ["n times it"]
"""


def sent_bytes(collective, size_bytes, world_size):
    if collective not in _BUS_FACTORS:
        raise ValueError(f"unknown collective {collective!r}")
    return _BUS_FACTORS[collective](world_size) * size_bytes * world_size
