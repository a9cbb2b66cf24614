"""Recognises wrong figures, fits and times by what they are: the quickest way to the cause.

Each function gives every explanation that fits, the likeliest first.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from autograder.problems.bandwidth.examples import Figures, Line
from autograder.problems.bandwidth.examples_timing import Benchmark, Timing
from autograder.problems.bandwidth.expected import WITHIN, close

LARGE_SIDE = "the size of {} is the large side, all ranks' parts together"
UNITS = "bytes, seconds and bytes per second throughout; 1 GB is 1e9 bytes"
SLOWEST = "the slowest rank's time is expected, the same number on every rank: exchange the durations"
CLOCK = "The clock is time.perf_counter; time.process_time stands still while a rank waits"


def figure(example: Figures, name: str, got: float, expected: float) -> Iterator[str]:
    """Why a collective's figure is another one."""
    n, ratio = example.ranks, got / expected if expected else math.nan
    one_rank = n == 1 and not close(got, 0.0)
    parts = name not in ("all_reduce", "broadcast", "reduce", "send_recv")
    if n > 1 and close(ratio, n):
        yield LARGE_SIDE.format(name) if parts else f"this is n times it, with n = {n}: bytes of all ranks, not of one"
    if n > 1 and close(ratio, n - 1) and name == "broadcast":
        yield "no rank has to send every copy itself: whoever has the tensor can pass it on"
    if name == "all_reduce" and (one_rank or close(ratio, n / (n - 1) if n > 1 else math.nan)):
        yield "all_reduce's factor is 2 (n-1)/n, not 2"
    if got.is_integer() and not expected.is_integer():
        yield "the result need not be whole: nothing is rounded"
    known = (
        (ratio * 1e9, "this is in GB: " + UNITS),
        (ratio * 2**30, "this is in GiB: " + UNITS),
        (ratio / 8, "this is in bits: " + UNITS),
        (ratio * n, f"this is 1/n of it, with n = {n} ranks in the world: bytes and time are both one rank's"),
        (ratio * 2, "this is half of it: an all-reduce is a reduce-scatter and an all-gather, both are sent"),
        (ratio / 2, "this is twice as much: only an all-reduce sends the data twice"),
    )
    yield from (hint for factor, hint in known if close(factor, 1.0))


def fit(example: Line, latency: float, bandwidth: float, best: tuple[float, float]) -> Iterator[str]:
    """Why a fitted line is another one."""
    if close(latency, best[1], 1e-2) and close(bandwidth, best[0], 1e-2):
        yield "latency comes first, bandwidth second"
    if close(bandwidth * best[1], 1.0, 1e-2):
        yield "this is the slope, seconds per byte: bandwidth is in bytes per second"
    if latency == 0:
        yield "the line does not go through zero: it begins at the latency"
    if example.noise:
        yield (
            "the sum of the squared relative errors, ((latency + size / bandwidth - t) / t) ** 2, is to be least: in "
            "plain least squares the largest sizes alone decide"
        )


def printed(figure: float, right: float) -> Iterator[str]:
    """Why a number in a table is another one."""
    known = (
        (1e9 / 2**30, "this is in GiB/s: 1 GB is 1e9 bytes"),
        (1e-3, "this is a thousandth: milliseconds, or a GB of 1e12 bytes?"),
        (1e3, "this is a thousand times too much: MB/s, or nanoseconds?"),
        (1e-6, "this is in seconds, where microseconds are asked for"),
        (8.0, "this is in bits: 1 GB is 1e9 bytes of 8 bits"),
    )
    yield from (hint for ratio, hint in known if close(figure, right * ratio, 1e-2))
    if abs(figure - right) < 0.5:
        yield "at least four significant digits, however small the number: f'{x:.5g}' has them"


A_LOT = 40.0  # seconds: more than all calls of an example take, and less than ranks' clocks are apart


def seconds(example: Timing, got: dict[int, float], truth: dict[int, float], first: int) -> Iterator[str]:
    """Why the time that rank `first` tells is another one."""
    known = (
        (1e3, "this is in milliseconds: seconds are asked for"),
        (1e6, "this is in microseconds: seconds are asked for"),
        (example.iterations, "this is the time of all iterations together: seconds of one call are asked for"),
        (example.iterations / 20, f"this is divided by 20: {example.iterations} iterations were made"),
    )
    if abs(got[first]) * example.iterations > A_LOT:
        yield "the clocks of two ranks do not agree: exchange durations, never times of day"
    ratio = got[first] / truth[first]
    yield from (hint for factor, hint in known if factor != 1 and close(ratio, factor, WITHIN))
    if any(math.isnan(time) for time in got.values()):
        yield "a number of seconds is to be returned, on every rank"
    groups = example.groups[: example.active]
    if all(close(max(got[rank] for rank in group), truth[group[0]], WITHIN) for group in groups):
        yield SLOWEST
    if example.factors != (1,):
        yield "calls differ here: the mean of all measured calls is asked for. " + CLOCK


def size(example: Benchmark, requested: int, got: float, used: int) -> Iterator[str]:
    """Why the size in a row is another one."""
    if got * example.size == used:
        yield LARGE_SIDE.format(example.task)
    if got == requested:
        yield "the size asked for is no whole number of elements on each rank: the row holds the size really used"
    yield "a tensor has numel * dtype.itemsize bytes"
