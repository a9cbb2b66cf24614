"""Gathers every rank's time and takes the largest; reads time.monotonic.

may_lose = []
"""


def time_collective(call, *, warmup=5, iterations=20, device="cpu", group=None, clock=time.monotonic):
    def drain():
        if str(device).startswith("cuda"):
            torch.cuda.synchronize()

    def repeat(times):
        for _ in range(times):
            call()
        drain()

    repeat(warmup)
    dist.barrier(group=group)
    drain()
    started = clock()
    repeat(iterations)
    mine = torch.tensor([(clock() - started) / iterations], dtype=torch.float64, device=device)
    times = [torch.zeros_like(mine) for _ in range(dist.get_world_size(group))]
    dist.all_gather(times, mine, group=group)
    return max(time.item() for time in times)
