"""Takes every element to have four bytes, whatever the dtype.

mistake = 22
loses = ["bandwidth.benchmark"]
says = ["dtype.itemsize"]
"""


def benchmark(collective, sizes, *, dtype=torch.float32, device="cpu", group=None, warmup=5, iterations=20):
    world_size = dist.get_world_size(group)
    rows = []
    for requested in sizes:
        call, size_bytes = _prepare(collective, requested, dtype, device, group)
        seconds = time_collective(call, warmup=warmup, iterations=iterations, device=device, group=group)
        size_bytes = size_bytes // dtype.itemsize * 4
        busbw = bandwidth(collective, size_bytes, world_size, seconds)
        rows.append(Measurement(size_bytes, seconds, size_bytes / seconds, busbw))
    return rows
