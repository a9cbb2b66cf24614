"""Answers without complaint where all sizes are the same.

loses = ["bandwidth.fit_latency_bandwidth"]
says = ["ValueError"]
"""


def fit_latency_bandwidth(sizes, seconds):
    measured = np.asarray(seconds, dtype=float)
    equations = np.stack([1 / measured, np.asarray(sizes, dtype=float) / measured], axis=1)
    (latency, slope), *_ = np.linalg.lstsq(equations, np.ones_like(measured), rcond=None)
    return float(latency), float(1 / slope)
