"""Waits for and asks the whole world, not the group.

loses = ["bandwidth.time_collective", "bandwidth.benchmark"]
says = ["groups"]
"""


def time_collective(call, *, warmup=5, iterations=20, device="cpu", group=None):
    for _ in range(warmup):
        call()
    _synchronize(device)
    dist.barrier()
    _synchronize(device)
    start = time.perf_counter()
    for _ in range(iterations):
        call()
    _synchronize(device)
    seconds = (time.perf_counter() - start) / iterations
    slowest = torch.tensor(seconds, dtype=torch.float64, device=device)
    dist.all_reduce(slowest, op=dist.ReduceOp.MAX)
    return slowest.item()
