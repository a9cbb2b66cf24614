"""Returns the fastest of the calls, not their mean.

loses = ["bandwidth.time_collective"]
says = ["the mean of all measured calls"]
"""


def time_collective(call, *, warmup=5, iterations=20, device="cpu", group=None):
    for _ in range(warmup):
        call()
    _synchronize(device)
    dist.barrier(group=group)
    _synchronize(device)
    seconds = float("inf")
    for _ in range(iterations):
        start = time.perf_counter()
        call()
        _synchronize(device)
        seconds = min(seconds, time.perf_counter() - start)
    slowest = torch.tensor(seconds, dtype=torch.float64, device=device)
    dist.all_reduce(slowest, op=dist.ReduceOp.MAX, group=group)
    return slowest.item()
