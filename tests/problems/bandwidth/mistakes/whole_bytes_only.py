"""Rounds the bytes down, which loses a size that the ranks do not divide.

loses = ["bandwidth.sent_bytes", "bandwidth.bandwidth"]
says = ["need not be whole"]
"""


def sent_bytes(collective, size_bytes, world_size):
    if collective not in _BUS_FACTORS:
        raise ValueError(f"unknown collective {collective!r}")
    if collective in ("all_reduce", "broadcast", "reduce", "send_recv"):
        return _BUS_FACTORS[collective](world_size) * size_bytes
    return (world_size - 1) * (size_bytes // world_size)
