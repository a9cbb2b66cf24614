"""The benchmark with torch's list forms of the collectives, a look at the first result, and a table with units.

may_lose = []
"""


def benchmark(collective, sizes, *, dtype=torch.float32, device="cpu", group=None, warmup=5, iterations=20):
    n = dist.get_world_size(group)
    ranks = dist.get_process_group_ranks(group or dist.group.WORLD)
    if collective not in ("all_reduce", "broadcast", "all_gather", "reduce_scatter", "all_to_all"):
        raise ValueError(collective)
    split = collective not in ("all_reduce", "broadcast")
    table = []
    for size in sizes:
        numel = max(size // dtype.itemsize // (n if split else 1), 1)
        one = torch.ones(numel, dtype=dtype, device=device)
        many = [torch.ones_like(one) for _ in range(n)] if split else []
        flat = torch.ones(numel * n, dtype=dtype, device=device) if collective == "all_to_all" else None

        def call():
            if collective == "all_reduce":
                dist.all_reduce(one, op=dist.ReduceOp.MAX, group=group)
            elif collective == "broadcast":
                dist.broadcast(one, src=ranks[-1], group=group)
            elif collective == "all_gather":
                dist.all_gather(many, one, group=group)
            elif collective == "reduce_scatter":
                dist.reduce_scatter(one, many, op=dist.ReduceOp.MAX, group=group)
            else:
                dist.all_to_all_single(torch.empty_like(flat), flat, group=group)

        if not table:
            call()
            assert one.isfinite().all()
        used = numel * dtype.itemsize * (n if split else 1)
        seconds = time_collective(call, warmup=warmup, iterations=iterations, device=device, group=group)
        table.append(Measurement(used, seconds, used / seconds, bandwidth(collective, used, n, seconds)))
    return table


def format_table(rows):
    text = "bytes  microseconds  algbw in GB/s  busbw in GB/s\n"
    for row in rows:
        text += f"{row.size_bytes:d}  {row.seconds * 1e6:.8f}  {row.algbw * 1e-9:.6e}  {row.busbw * 1e-9:.6e}\n"
    return text
