"""All-reduce's factor is 2 whatever the world size.

mistake = 21
loses = ["bandwidth.sent_bytes", "bandwidth.bandwidth", "bandwidth.benchmark"]
says = ["factor is 2 .n-1./n"]
"""


_BUS_FACTORS["all_reduce"] = lambda n: 2.0
