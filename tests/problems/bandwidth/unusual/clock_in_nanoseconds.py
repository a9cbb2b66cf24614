"""Starts with an all-reduce in place of the barrier, and reads time.perf_counter_ns.

may_lose = []
"""


def time_collective(call, *, warmup=5, iterations=20, device="cpu", group=None):
    flag = torch.zeros(1, device=device)
    for _ in range(warmup):
        call()
    _synchronize(device)
    dist.all_reduce(flag, group=group)
    _synchronize(device)
    begin = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
    for _ in range(iterations):
        call()
    _synchronize(device)
    each = (time.clock_gettime_ns(time.CLOCK_MONOTONIC) - begin) / iterations / 1e9
    result = torch.tensor(each, dtype=torch.float64, device=device)
    dist.all_reduce(result, op=dist.ReduceOp.MAX, group=group)
    return result.item()
