"""The fit by the formulas for a weighted line, in plain Python.

may_lose = []
"""


def fit_latency_bandwidth(sizes, seconds):
    if len(sizes) != len(seconds) or len({float(size) for size in sizes}) < 2:
        raise ValueError("need a time for each size, and two sizes that differ")
    weights = [1 / second**2 for second in seconds]
    total = sum(weights)
    mean_size = sum(w * s for w, s in zip(weights, sizes)) / total
    mean_time = sum(w * t for w, t in zip(weights, seconds)) / total
    covariance = sum(w * (s - mean_size) * (t - mean_time) for w, s, t in zip(weights, sizes, seconds))
    variance = sum(w * (s - mean_size) ** 2 for w, s in zip(weights, sizes))
    slope = covariance / variance
    return mean_time - slope * mean_size, 1 / slope
