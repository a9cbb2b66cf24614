"""The median of the calls, measured one by one, in place of their mean.

loses = ["bandwidth.time_collective"]
says = ["mean of all measured calls"]
"""


def time_collective(call, *, warmup=5, iterations=20, device="cpu", group=None):
    for _ in range(warmup):
        call()
    _synchronize(device)
    dist.barrier(group=group)
    _synchronize(device)
    times = []
    for _ in range(iterations):
        begin = time.perf_counter()
        call()
        _synchronize(device)
        times.append(time.perf_counter() - begin)
    taken = torch.tensor([sorted(times)[len(times) // 2]], dtype=torch.float64, device=device)
    dist.all_reduce(taken, op=dist.ReduceOp.MAX, group=group)
    return taken.item()
