"""All-reduce's factor lacks the 2: only its reduce-scatter half is counted.

mistake = 21
loses = ["bandwidth.sent_bytes", "bandwidth.bandwidth", "bandwidth.benchmark"]
says = ["this is half of it"]
"""


_BUS_FACTORS["all_reduce"] = lambda n: (n - 1) / n
