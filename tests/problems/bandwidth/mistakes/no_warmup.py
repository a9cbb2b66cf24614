"""Measures the first calls too: no warm-up.

mistake = 23
loses = ["bandwidth.time_collective"]
says = ["for the warm-up"]
"""


def time_collective(call, *, warmup=5, iterations=20, device="cpu", group=None):
    _synchronize(device)
    dist.barrier(group=group)
    _synchronize(device)
    start = time.perf_counter()
    for _ in range(iterations):
        call()
    _synchronize(device)
    seconds = (time.perf_counter() - start) / iterations
    slowest = torch.tensor(seconds, dtype=torch.float64, device=device)
    dist.all_reduce(slowest, op=dist.ReduceOp.MAX, group=group)
    return slowest.item()
