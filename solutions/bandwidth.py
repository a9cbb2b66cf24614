"""Problem 2: how fast a collective is, measured so that two machines can be compared.

A collective's time alone says little: it grows with the message, and for the same message an all-reduce has twice the
work of a reduce-scatter. Here the time is turned into a *bus bandwidth*, the speed at which a rank's link must have
run, which can be held against what the hardware promises.

Units are bytes, seconds and bytes per second throughout; 1 GB is 1e9 bytes.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
import torch.distributed as dist

# BEGIN SOLUTION
# From nccl-tests, doc/PERFORMANCE.md: how many times the size passes through the busiest rank's link, one direction.
_BUS_FACTORS: dict[str, Callable[[int], float]] = {
    "all_reduce": lambda n: 2 * (n - 1) / n,
    "all_gather": lambda n: (n - 1) / n,
    "reduce_scatter": lambda n: (n - 1) / n,
    "all_to_all": lambda n: (n - 1) / n,
    "gather": lambda n: (n - 1) / n,
    "scatter": lambda n: (n - 1) / n,
    "broadcast": lambda n: 1.0,
    "reduce": lambda n: 1.0,
    "send_recv": lambda n: 1.0,
}
# END SOLUTION


def sent_bytes(collective: str, size_bytes: float, world_size: int) -> float:
    """Bytes that the busiest rank must send (or, where it only collects, receive) for one call: factor times size.

    collective: "all_reduce", "all_gather", "reduce_scatter", "all_to_all", "gather", "scatter", "broadcast", "reduce"
        or "send_recv".
    size_bytes: what nccl-tests counts as the size: the whole tensor for all_reduce, broadcast, reduce and send_recv;
        for the others the large side, all ranks' parts together.
    world_size: at least 1.
    Returns bytes, a float, for it need not be whole.
    Raises ValueError for any other collective.
    Source of the factors: nccl-tests, doc/PERFORMANCE.md.
    """
    # BEGIN SOLUTION
    if collective not in _BUS_FACTORS:
        raise ValueError(f"unknown collective {collective!r}; known are {', '.join(_BUS_FACTORS)}")
    return _BUS_FACTORS[collective](world_size) * size_bytes
    # END SOLUTION


def bandwidth(collective: str, size_bytes: float, world_size: int, seconds: float) -> float:
    """Bus bandwidth of one call, in bytes per second: what the busiest rank must send, over the time.

    collective, size_bytes, world_size: as in `sent_bytes`.
    seconds: duration of one call, positive.
    Raises ValueError for an unknown collective.
    """
    # BEGIN SOLUTION
    return sent_bytes(collective, size_bytes, world_size) / seconds
    # END SOLUTION


# BEGIN SOLUTION
def _synchronize(device: str | torch.device) -> None:
    """Wait until the device has done all that was asked of it; a CPU does so at once."""
    if torch.device(device).type == "cuda":
        torch.cuda.synchronize(device)
# END SOLUTION


def time_collective(
    call: Callable[[], object],
    *,
    warmup: int = 5,
    iterations: int = 20,
    device: str | torch.device = "cpu",
    group: dist.ProcessGroup | None = None,
) -> float:
    """Mean seconds a call, of the slowest rank; every rank of the group gets the same number.

    call: runs the collective once, on every rank of the group. On a GPU it may return before the work is done.
    warmup: calls made first and not measured; the first ones pay for connections, buffers and caches.
    iterations: calls measured, at least 1. Exactly warmup + iterations calls are made.
    device: where the collective's tensors live, "cpu" or a CUDA device.
    group: the ranks that call; None is the whole world.
    Ranks that arrive at different times do not count as slow, and nothing but the calls is inside the measurement.
    The clock is time.perf_counter, read on the host; torch.cuda.synchronize waits for a CUDA device.
    """
    # BEGIN SOLUTION
    for _ in range(warmup):
        call()
    _synchronize(device)  # else the end of the warm-up is measured too
    dist.barrier(group=group)  # else a rank that is early measures how long it waits for the late one
    _synchronize(device)  # on NCCL the barrier is work for the device as well
    start = time.perf_counter()
    for _ in range(iterations):
        call()
    _synchronize(device)
    seconds = (time.perf_counter() - start) / iterations
    slowest = torch.tensor(seconds, dtype=torch.float64, device=device)
    dist.all_reduce(slowest, op=dist.ReduceOp.MAX, group=group)
    return slowest.item()
    # END SOLUTION


def fit_latency_bandwidth(sizes: Sequence[float], seconds: Sequence[float]) -> tuple[float, float]:
    """Fit seconds = latency + size / bandwidth to measurements, by least squares of the relative errors.

    sizes: bytes, at least two different values.
    seconds: the time measured for each size, positive.
    Returns (latency in seconds, bandwidth in bytes per second): the pair that makes the sum of
    ((latency + size / bandwidth - seconds) / seconds) ** 2 least.
    Raises ValueError when the lengths differ or there are fewer than two different sizes.

    Why relative: a measurement is off by some percent of itself. One percent of the time of a gigabyte is many times
    the latency, so plain least squares would let the largest sizes alone decide, and lose the latency in their noise.
    """
    # BEGIN SOLUTION
    size = np.asarray(sizes, dtype=np.float64)
    measured = np.asarray(seconds, dtype=np.float64)
    if size.shape != measured.shape or len(np.unique(size)) < 2:
        raise ValueError(f"one time for each size and at least two different sizes, not {sizes} and {seconds}")
    # Every equation latency + size * slope = measured is divided by its measured time.
    equations = np.stack([1 / measured, size / measured], axis=1)
    scale = equations.max(axis=0)  # columns of like size keep the solver exact
    (latency, slope), *_ = np.linalg.lstsq(equations / scale, np.ones_like(measured), rcond=None)
    return float(latency / scale[0]), float(scale[1] / slope)
    # END SOLUTION


@dataclass(frozen=True)
class Measurement:
    """One row of a benchmark."""

    size_bytes: int  # the size as nccl-tests counts it, of the tensors that were really used
    seconds: float  # a call
    algbw: float  # size over time, bytes per second
    busbw: float  # bus bandwidth, bytes per second


# BEGIN SOLUTION
# torch 2.13 renamed these two and warns about the old names; torch 2.11 has only the old ones.
_all_gather = getattr(dist, "all_gather_single", None) or dist.all_gather_into_tensor
_reduce_scatter = getattr(dist, "reduce_scatter_single", None) or dist.reduce_scatter_tensor


def _prepare(
    collective: str, size_bytes: int, dtype: torch.dtype, device: str | torch.device, group: dist.ProcessGroup | None
) -> tuple[Callable[[], object], int]:
    """The collective as a call on tensors made here, and their true size in bytes."""
    world_size = dist.get_world_size(group)

    def zeros(numel: int) -> torch.Tensor:
        # Zeros, for what lies in fresh memory may hold denormals, and sums of those are slow.
        return torch.zeros(numel, dtype=dtype, device=device)

    if collective in ("all_reduce", "broadcast"):
        tensor = zeros(max(1, size_bytes // dtype.itemsize))
        calls = {
            "all_reduce": lambda: dist.all_reduce(tensor, group=group),
            "broadcast": lambda: dist.broadcast(tensor, group_src=0, group=group),
        }
        return calls[collective], tensor.nbytes

    part = zeros(max(1, size_bytes // (dtype.itemsize * world_size)))
    whole = zeros(part.numel() * world_size)
    received = torch.empty_like(whole)
    calls = {
        "all_gather": lambda: _all_gather(whole, part, group=group),
        "reduce_scatter": lambda: _reduce_scatter(part, whole, group=group),
        "all_to_all": lambda: dist.all_to_all_single(received, whole, group=group),
    }
    if collective not in calls:
        raise ValueError(f"no benchmark of {collective!r}")
    return calls[collective], whole.nbytes
# END SOLUTION


def benchmark(
    collective: str,
    sizes: Sequence[int],
    *,
    dtype: torch.dtype = torch.float32,
    device: str | torch.device = "cpu",
    group: dist.ProcessGroup | None = None,
    warmup: int = 5,
    iterations: int = 20,
) -> list[Measurement]:
    """Measure torch's own collective at each size: the table that a benchmark prints, a row a size.

    collective: "all_reduce", "broadcast", "all_gather", "reduce_scatter" or "all_to_all".
    sizes: bytes, counted as in `sent_bytes`: the tensor, or all ranks' parts together. A size that is not a whole
        number of elements (on every rank, where the tensor is split) is rounded down to one, but never to nothing;
        the row holds the size really used.
    dtype, device: of the tensors. group: the ranks that take part; None is the whole world.
    warmup, iterations: as in `time_collective`.
    Returns the rows in the order of sizes, the same on every rank.
    Raises ValueError for any other collective.
    """
    # BEGIN SOLUTION
    rows = []
    for requested in sizes:
        call, size_bytes = _prepare(collective, requested, dtype, device, group)
        seconds = time_collective(call, warmup=warmup, iterations=iterations, device=device, group=group)
        busbw = bandwidth(collective, size_bytes, dist.get_world_size(group), seconds)
        rows.append(Measurement(size_bytes, seconds, algbw=size_bytes / seconds, busbw=busbw))
    return rows
    # END SOLUTION


def format_table(rows: Sequence[Measurement]) -> str:
    """The rows as text for a terminal: one line that names the columns, then a line for each row.

    A row's line holds four plain numbers between spaces: the size in bytes, the time in microseconds, and algbw and
    busbw in GB/s (1 GB = 1e9 bytes). The size is exact; the others have at least four significant digits.
    """
    # BEGIN SOLUTION
    lines = [f"{'size (B)':>14} {'time (us)':>12} {'algbw (GB/s)':>14} {'busbw (GB/s)':>14}"]
    for row in rows:
        microseconds, algbw, busbw = row.seconds * 1e6, row.algbw / 1e9, row.busbw / 1e9
        lines.append(f"{row.size_bytes:>14} {microseconds:>12.5g} {algbw:>14.5g} {busbw:>14.5g}")
    return "\n".join(lines)
    # END SOLUTION
