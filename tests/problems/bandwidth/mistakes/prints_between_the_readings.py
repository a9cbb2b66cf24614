"""Says how far it is, inside of what it measures.

loses = ["bandwidth.time_collective"]
says = ["measures"]
"""


def time_collective(call, *, warmup=5, iterations=20, device="cpu", group=None):
    for _ in range(warmup):
        call()
    _synchronize(device)
    dist.barrier(group=group)
    _synchronize(device)
    begin = time.perf_counter()
    for i in range(iterations):
        call()
        print(f"call {i + 1} of {iterations}")
    _synchronize(device)
    taken = torch.tensor([time.perf_counter() - begin], dtype=torch.float64, device=device)
    dist.all_reduce(taken, op=dist.ReduceOp.MAX, group=group)
    return taken.item() / iterations
