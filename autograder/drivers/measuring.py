"""The kit's own measurement of torch's collectives, made beside a student's on the same ranks."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import torch
import torch.distributed as dist


def seconds_of(
    collective: str,
    size_bytes: int,
    *,
    dtype: torch.dtype,
    device: torch.device,
    group: Any,
    warmup: int,
    iterations: int,
) -> float:
    """Seconds of one call, of the slowest rank, the same number on every rank.

    `size_bytes` counts the whole tensor, all ranks' parts together, and is a whole number of elements on every rank.
    """
    call = _call(collective, torch.zeros(size_bytes // dtype.itemsize, dtype=dtype, device=device), group)
    for _ in range(warmup):
        call()
    dist.barrier(group=group)
    _settle(device)
    begin = time.perf_counter()
    for _ in range(iterations):
        call()
    _settle(device)
    seconds = torch.tensor([(time.perf_counter() - begin) / iterations], dtype=torch.float64, device=device)
    dist.all_reduce(seconds, op=dist.ReduceOp.MAX, group=group)
    return seconds.item()


def _settle(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def _call(collective: str, whole: torch.Tensor, group: Any) -> Callable[[], Any]:
    """One call of the collective; `whole` is the large side."""
    n = dist.get_world_size(group)
    parts = list(whole.chunk(n))
    part = torch.zeros_like(parts[0])
    other = torch.zeros_like(whole)
    first = dist.get_global_rank(group, 0) if group is not None else 0
    return {
        "all_reduce": lambda: dist.all_reduce(whole, group=group),
        "broadcast": lambda: dist.broadcast(whole, src=first, group=group),
        "all_gather": lambda: dist.all_gather(parts, part, group=group),
        "reduce_scatter": lambda: dist.reduce_scatter(part, parts, group=group),
        "all_to_all": lambda: dist.all_to_all_single(other, whole, group=group),
    }[collective]
