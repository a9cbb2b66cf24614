# Problem 2: Bandwidth. Write what raises NotImplementedError, in any order; names and arguments stay as they are.
# What is asked: assignment/bandwidth.md. Where you stand: make grade ONLY=bandwidth
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
    raise NotImplementedError("bandwidth.sent_bytes: not written yet; see assignment/bandwidth.md, section sent_bytes")


def bandwidth(collective: str, size_bytes: float, world_size: int, seconds: float) -> float:
    """Bus bandwidth of one call, in bytes per second: what the busiest rank must send, over the time.

    collective, size_bytes, world_size: as in `sent_bytes`.
    seconds: duration of one call, positive.
    Raises ValueError for an unknown collective.
    """
    raise NotImplementedError("bandwidth.bandwidth: not written yet; see assignment/bandwidth.md, section bandwidth")


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
    raise NotImplementedError(
        "bandwidth.time_collective: not written yet; "
        "see assignment/bandwidth.md, section time_collective"
    )


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
    raise NotImplementedError(
        "bandwidth.fit_latency_bandwidth: not written yet; "
        "see assignment/bandwidth.md, section fit_latency_bandwidth"
    )


@dataclass(frozen=True)
class Measurement:
    """One row of a benchmark."""

    size_bytes: int  # the size as nccl-tests counts it, of the tensors that were really used
    seconds: float  # a call
    algbw: float  # size over time, bytes per second
    busbw: float  # bus bandwidth, bytes per second


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
    raise NotImplementedError("bandwidth.benchmark: not written yet; see assignment/bandwidth.md, section benchmark")


def format_table(rows: Sequence[Measurement]) -> str:
    """The rows as text for a terminal: one line that names the columns, then a line for each row.

    A row's line holds four plain numbers between spaces: the size in bytes, the time in microseconds, and algbw and
    busbw in GB/s (1 GB = 1e9 bytes). The size is exact; the others have at least four significant digits.
    """
    raise NotImplementedError(
        "bandwidth.format_table: not written yet; "
        "see assignment/bandwidth.md, section format_table"
    )
