"""Every call is measured on its own, with a barrier before its clock starts; the clock is timeit's.

may_lose = []
"""

from timeit import default_timer


def time_collective(call, *, warmup=5, iterations=20, device="cpu", group=None):
    for _ in range(warmup):
        call()
    total = 0.0
    for _ in range(iterations):
        _synchronize(device)
        dist.barrier(group=group)
        _synchronize(device)
        start = default_timer()
        call()
        _synchronize(device)
        total += default_timer() - start
    slowest = torch.tensor([total / iterations], dtype=torch.float64, device=device)
    dist.all_reduce(slowest, op=dist.ReduceOp.MAX, group=group)
    return float(slowest)
