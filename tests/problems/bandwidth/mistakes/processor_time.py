"""Reads the process's CPU time, which stands still while the rank waits.

mistake = 23
loses = ["bandwidth.time_collective", "bandwidth.benchmark"]
says = ["process_time stands still"]
"""


def time_collective(call, *, warmup=5, iterations=20, device="cpu", group=None):
    for _ in range(warmup):
        call()
    _synchronize(device)
    dist.barrier(group=group)
    _synchronize(device)
    start = time.process_time()
    for _ in range(iterations):
        call()
    _synchronize(device)
    seconds = (time.process_time() - start) / iterations
    slowest = torch.tensor(seconds, dtype=torch.float64, device=device)
    dist.all_reduce(slowest, op=dist.ReduceOp.MAX, group=group)
    return slowest.item()
