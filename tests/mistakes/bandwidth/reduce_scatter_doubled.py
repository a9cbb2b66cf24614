"""Reduce-scatter and all-gather get all-reduce's factor.

mistake = 21
loses = ["bandwidth.sent_bytes", "bandwidth.bandwidth", "bandwidth.benchmark"]
says = ["reduce_scatter|all_gather"]
"""


for name in ("reduce_scatter", "all_gather"):
    _BUS_FACTORS[name] = lambda n: 2 * (n - 1) / n
