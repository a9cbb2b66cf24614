"""Every call is measured on its own, with a barrier before its clock starts.

may_lose = []
"""


def time_collective(call, *, warmup=5, iterations=20, device="cpu", group=None):
    for _ in range(warmup):
        call()
    total = 0.0
    for _ in range(iterations):
        _synchronize(device)
        dist.barrier(group=group)
        _synchronize(device)
        start = time.perf_counter()
        call()
        _synchronize(device)
        total += time.perf_counter() - start
    slowest = torch.tensor([total / iterations], dtype=torch.float64, device=device)
    dist.all_reduce(slowest, op=dist.ReduceOp.MAX, group=group)
    return float(slowest)
