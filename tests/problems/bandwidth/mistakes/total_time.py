"""Returns the time of all iterations together.

mistake = 23
loses = ["bandwidth.time_collective", "bandwidth.benchmark"]
says = ["all iterations together"]
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
    seconds = (time.perf_counter() - start)
    slowest = torch.tensor(seconds, dtype=torch.float64, device=device)
    dist.all_reduce(slowest, op=dist.ReduceOp.MAX, group=group)
    return slowest.item()
