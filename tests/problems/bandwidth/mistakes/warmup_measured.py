"""Starts the clock before the warm-up, and divides by all the calls.

mistake = 23
loses = ["bandwidth.time_collective"]
says = ["first calls are slow"]
"""


def time_collective(call, *, warmup=5, iterations=20, device="cpu", group=None):
    dist.barrier(group=group)
    _synchronize(device)
    start = time.perf_counter()
    for _ in range(warmup + iterations):
        call()
    _synchronize(device)
    seconds = (time.perf_counter() - start) / (warmup + iterations)
    slowest = torch.tensor(seconds, dtype=torch.float64, device=device)
    dist.all_reduce(slowest, op=dist.ReduceOp.MAX, group=group)
    return slowest.item()
