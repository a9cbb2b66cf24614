"""Fits a line through the origin: no latency at all.

loses = ["bandwidth.fit_latency_bandwidth"]
says = ["does not go through zero"]
"""


def fit_latency_bandwidth(sizes, seconds):
    if len(sizes) != len(seconds) or len(set(sizes)) < 2:
        raise ValueError("at least two different sizes")
    size, measured = np.asarray(sizes, dtype=float), np.asarray(seconds, dtype=float)
    return 0.0, float((size @ size) / (size @ measured))
