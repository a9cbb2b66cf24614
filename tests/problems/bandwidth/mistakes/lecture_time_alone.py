"""Divides by world size times the time, but counts one rank's bytes.

mistake = 21
loses = ["bandwidth.bandwidth", "bandwidth.benchmark"]
says = ["1/n of it"]
"""


def bandwidth(collective, size_bytes, world_size, seconds):
    return sent_bytes(collective, size_bytes, world_size) / (world_size * seconds)
