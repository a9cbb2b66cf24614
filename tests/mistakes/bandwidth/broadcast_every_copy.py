"""Counts a broadcast once for each receiver, as if the root sent every copy itself.

mistake = 21
loses = ["bandwidth.sent_bytes", "bandwidth.bandwidth", "bandwidth.benchmark"]
says = ["broadcast"]
"""


_BUS_FACTORS["broadcast"] = lambda n: n - 1
