"""Every rank returns its own time.

mistake = 23
loses = ["bandwidth.time_collective"]
says = ["same number on every rank"]
"""


def time_collective(call, *, warmup=5, iterations=20, device="cpu", group=None):
    for _ in range(warmup):
        call()
    _synchronize(device)
    dist.barrier(group=group)
    _synchronize(device)
    start = time.perf_counter()
    for _ in range(iterations):
        call()
    _synchronize(device)
    seconds = (time.perf_counter() - start) / iterations
    return seconds
