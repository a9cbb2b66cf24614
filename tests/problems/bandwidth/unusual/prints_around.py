"""Prints before the clock is read and after it, and nothing in between."""


def time_collective(call, *, warmup=5, iterations=20, device="cpu", group=None):
    for number in range(warmup):
        call()
        print("warm-up", number)
    _synchronize(device)
    dist.barrier(group=group)
    _synchronize(device)
    begin = time.perf_counter()
    for _ in range(iterations):
        call()
    _synchronize(device)
    taken = torch.tensor([time.perf_counter() - begin], dtype=torch.float64, device=device)
    print("took", taken.item())
    dist.all_reduce(taken, op=dist.ReduceOp.MAX, group=group)
    return taken.item() / iterations
