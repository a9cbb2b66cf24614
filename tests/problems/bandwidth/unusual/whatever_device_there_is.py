"""Synchronises whenever there is a CUDA device at all, and moves its tensor there.

may_lose = []
"""

from time import perf_counter


def time_collective(call, *, warmup=5, iterations=20, device="cpu", group=None):
    device = torch.device(device)

    def now():
        if torch.cuda.is_available():
            torch.cuda.synchronize()
        return perf_counter()

    for _ in range(warmup):
        call()
    now()
    dist.barrier(group=group)
    begin = now()
    for _ in range(iterations):
        call()
    elapsed = torch.tensor([now() - begin], dtype=torch.float64).to(device)
    dist.all_reduce(elapsed, op=dist.ReduceOp.MAX, group=group)
    return elapsed.cpu().item() / iterations
