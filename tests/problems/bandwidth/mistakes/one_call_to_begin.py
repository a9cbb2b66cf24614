"""Makes one more call before the warm-up, to open the connections: nothing else is wrong with it.

mistake = 23
loses = ["bandwidth.time_collective.warmup"]
says = ["calls, where"]
"""

_time_the_calls = time_collective


def time_collective(call, *, warmup=5, iterations=20, device="cpu", group=None):
    call()
    return _time_the_calls(call, warmup=warmup, iterations=iterations, device=device, group=group)
