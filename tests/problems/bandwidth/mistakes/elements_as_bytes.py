"""Makes a tensor with as many elements as it should have bytes.

mistake = 22
loses = ["bandwidth.benchmark"]
says = ["another size than the row says"]
"""


def benchmark(collective, sizes, *, dtype=torch.float32, device="cpu", group=None, warmup=5, iterations=20):
    world_size = dist.get_world_size(group)
    rows = []
    for requested in sizes:
        call, size_bytes = _prepare(collective, requested * dtype.itemsize, dtype, device, group)
        seconds = time_collective(call, warmup=warmup, iterations=iterations, device=device, group=group)
        size_bytes = requested
        busbw = bandwidth(collective, size_bytes, world_size, seconds)
        rows.append(Measurement(size_bytes, seconds, size_bytes / seconds, busbw))
    return rows
