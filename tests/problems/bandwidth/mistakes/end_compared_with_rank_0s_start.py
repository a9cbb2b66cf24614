"""Every rank measures from the start that rank 0 has sent.

loses = ["bandwidth.time_collective"]
says = ["never times of day"]
"""


def time_collective(call, *, warmup=5, iterations=20, device="cpu", group=None):
    for _ in range(warmup):
        call()
    _synchronize(device)
    dist.barrier(group=group)
    _synchronize(device)
    begin = torch.tensor([time.perf_counter()], dtype=torch.float64, device=device)
    dist.broadcast(begin, src=0 if group is None else dist.get_global_rank(group, 0), group=group)
    for _ in range(iterations):
        call()
    _synchronize(device)
    taken = torch.tensor([time.perf_counter()], dtype=torch.float64, device=device) - begin
    dist.all_reduce(taken, op=dist.ReduceOp.MAX, group=group)
    return taken.item() / iterations
