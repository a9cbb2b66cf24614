"""Returns the line's slope, seconds per byte, as the bandwidth.

mistake = 22
loses = ["bandwidth.fit_latency_bandwidth"]
says = ["this is the slope"]
"""


def fit_latency_bandwidth(sizes, seconds):
    if len(sizes) != len(seconds) or len(set(sizes)) < 2:
        raise ValueError("at least two different sizes")
    slope, latency = np.polyfit(sizes, seconds, 1, w=1 / np.asarray(seconds))
    return float(latency), float(slope)
