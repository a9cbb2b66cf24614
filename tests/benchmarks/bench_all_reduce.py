"""How fast the reference's all_reduce is against gloo's own, as a ratio of times measured side by side.

    python tests/benchmarks/bench_all_reduce.py [MiB ...]

The two take turns on the same warm ranks, so that whatever else the machine does falls on both. A ratio of 1 is gloo's
speed, a larger one is faster. What counts is the slowest rank of each run, and the median over the runs.
"""

import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import torch
import torch.distributed as dist

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

from solutions.collectives import all_reduce  # noqa: E402

WORLD_SIZES = (2, 4)
SIZES_MIB = (0, 1, 64)  # 0 stands for a single element


def seconds(call: Callable[[torch.Tensor], None], tensor: torch.Tensor) -> float:
    """Seconds that the slowest rank needs for one call."""
    dist.barrier()
    start = time.perf_counter()
    call(tensor)
    taken = torch.tensor(time.perf_counter() - start, dtype=torch.float64)
    dist.all_reduce(taken, dist.ReduceOp.MAX)
    return taken.item()


def compare(size_mib: float, runs: int) -> tuple[float, float]:
    """Median seconds of ours and of gloo's all_reduce on a float32 tensor of `size_mib` MiB, over interleaved runs."""
    tensor = torch.zeros(max(1, int(size_mib * 2**20 / 4)))
    calls = (all_reduce, dist.all_reduce)
    taken = [[seconds(call, tensor) for call in calls] for _ in range(runs + 2)][2:]  # the first two warm up
    ours, gloo = (statistics.median(column) for column in zip(*taken, strict=True))
    return ours, gloo


def rank_main(rank: int, world_size: int, rendezvous: str, sizes_mib: list[float]) -> None:
    """One rank: join the group, compare at each size, and let rank 0 print the table."""
    store = dist.FileStore(rendezvous, world_size)
    dist.init_process_group("gloo", store=store, rank=rank, world_size=world_size, timeout=timedelta(seconds=120))
    for size_mib in sizes_mib:
        ours, gloo = compare(size_mib, runs=15 if size_mib >= 8 else 100)
        if rank == 0:
            print(f"{world_size:5} {size_mib:8g} {ours * 1e3:10.3f} {gloo * 1e3:10.3f} {gloo / ours:7.2f}", flush=True)
    dist.barrier()


def main(sizes_mib: list[float]) -> None:
    torch.set_num_threads(1)  # before the fork: a child of a parent with OpenMP threads hangs
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo0" if sys.platform == "darwin" else "lo")
    print("ranks      MiB    ours ms    gloo ms   ratio", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for world_size in WORLD_SIZES:
            children = []
            for rank in range(world_size):
                child = os.fork()
                if child == 0:
                    status = 1
                    try:
                        rank_main(rank, world_size, f"{folder}/{world_size}", sizes_mib)
                        status = 0
                    finally:
                        os._exit(status)
                children.append(child)
            if any(os.waitpid(child, 0)[1] for child in children):
                sys.exit(f"a rank of {world_size} failed")


if __name__ == "__main__":
    main([float(size) for size in sys.argv[1:]] or list(SIZES_MIB))
