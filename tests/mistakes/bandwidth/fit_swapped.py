"""Returns the bandwidth first.

loses = ["bandwidth.fit_latency_bandwidth"]
says = ["latency"]
"""


def fit_latency_bandwidth(sizes, seconds):
    if len(sizes) != len(seconds) or len(set(sizes)) < 2:
        raise ValueError("at least two different sizes")
    slope, latency = np.polyfit(sizes, seconds, 1, w=1 / np.asarray(seconds))
    return 1 / float(slope), float(latency)
