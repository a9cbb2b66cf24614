"""Takes the latest end less the earliest start of all ranks, whose clocks do not agree.

loses = ["bandwidth.time_collective"]
says = ["never times of day"]
"""


def time_collective(call, *, warmup=5, iterations=20, device="cpu", group=None):
    for _ in range(warmup):
        call()
    _synchronize(device)
    dist.barrier(group=group)
    _synchronize(device)
    begin = time.perf_counter()
    for _ in range(iterations):
        call()
    _synchronize(device)
    moments = torch.tensor([-begin, time.perf_counter()], dtype=torch.float64, device=device)
    dist.all_reduce(moments, op=dist.ReduceOp.MAX, group=group)
    return moments.sum().item() / iterations
