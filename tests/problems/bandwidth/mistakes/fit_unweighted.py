"""Plain least squares: the largest sizes alone decide.

loses = ["bandwidth.fit_latency_bandwidth"]
says = ["relative errors"]
"""


def fit_latency_bandwidth(sizes, seconds):
    if len(sizes) != len(seconds) or len(set(sizes)) < 2:
        raise ValueError("at least two different sizes")
    slope, latency = np.polyfit(sizes, seconds, 1)
    return float(latency), 1 / float(slope)
