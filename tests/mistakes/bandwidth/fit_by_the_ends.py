"""Draws the line through the first and the last measurement.

loses = ["bandwidth.fit_latency_bandwidth"]
says = ["least squares"]
"""


def fit_latency_bandwidth(sizes, seconds):
    if len(sizes) != len(seconds) or len(set(sizes)) < 2:
        raise ValueError("at least two different sizes")
    slope = (seconds[-1] - seconds[0]) / (sizes[-1] - sizes[0])
    return seconds[0] - sizes[0] * slope, 1 / slope
