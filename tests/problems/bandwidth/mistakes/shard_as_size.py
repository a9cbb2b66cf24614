"""Takes the size of a reduce-scatter or all-gather to be one rank's shard.

mistake = 21
loses = ["bandwidth.sent_bytes", "bandwidth.bandwidth", "bandwidth.benchmark"]
says = ["large side"]
"""


for name in ("reduce_scatter", "all_gather"):
    _BUS_FACTORS[name] = lambda n: n - 1
