"""Starts the clock while the device still works on the warm-up.

mistake = 23
loses = ["bandwidth.time_collective"]
says = ["warm-up"]
"""


def time_collective(call, *, warmup=5, iterations=20, device="cpu", group=None):
    for _ in range(warmup):
        call()
    dist.barrier(group=group)
    start = time.perf_counter()
    for _ in range(iterations):
        call()
    _synchronize(device)
    seconds = (time.perf_counter() - start) / iterations
    slowest = torch.tensor(seconds, dtype=torch.float64, device=device)
    dist.all_reduce(slowest, op=dist.ReduceOp.MAX, group=group)
    return slowest.item()
