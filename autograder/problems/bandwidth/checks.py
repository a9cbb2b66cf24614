"""Problem 2: what must hold of figures, fits and tables, and of measured time."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import strategies as st

from autograder.checks.check import Checks, Comparison, Drawing, Judge
from autograder.problems.bandwidth import examples, examples_timing
from autograder.problems.bandwidth.hints import CLOCK, SLOWEST
from autograder.problems.bandwidth.judge import figures, fitted, printed
from autograder.problems.bandwidth.judge_timing import benchmarked, beside, timed

# Time is virtual on the simulated cluster, so that the truth is known and no machine's noise comes in.
SIMULATED, REAL, BOTH = ("sim",), ("real",), ("sim", "real")


CHECKS = Checks("bandwidth")


def _check(
    name: str,
    task: str,
    judge: Judge,
    backends: tuple[str, ...] = REAL,
    needs_messages: bool = False,
    compare: Comparison | None = None,
) -> Callable[[Drawing], Drawing]:
    """Ranks that are all alike measure the right time, whether they tell one another or not: few need messages."""
    return CHECKS.add(name, (task,), judge, backends, needs_messages=needs_messages, compare=compare)


@_check("factors", "sent_bytes", figures)
def draw_factors(task: str, world_size: int) -> st.SearchStrategy[examples.Figures]:
    """{task} knows nccl-tests' factors for every collective and world size"""
    return examples.figures(task)


@_check("unknown", "sent_bytes", figures)
def draw_unknown(task: str, world_size: int) -> st.SearchStrategy[examples.Figures]:
    """{task} refuses a collective that it does not know"""
    return examples.unknown(task)


@_check("busbw", "bandwidth", figures)
def draw_busbw(task: str, world_size: int) -> st.SearchStrategy[examples.Figures]:
    """{task} is the bus bandwidth, in bytes per second, and refuses an unknown collective"""
    return examples.figures(task) | examples.unknown(task)


def _timing(
    name: str,
    omission: str,
    backends: tuple[str, ...] = SIMULATED,
    count_calls: bool = False,
    needs_messages: bool = False,
) -> Callable[[Drawing], Drawing]:
    return _check(name, "time_collective", timed(omission, count_calls), backends, needs_messages)


@_timing("steady", f"seconds of one call, the mean of all measured ones. {CLOCK}", BOTH)
def draw_steady(task: str, world_size: int) -> st.SearchStrategy[examples_timing.Timing]:
    """{task} gives the mean seconds of a call"""
    return examples_timing.steady(world_size)


@_timing("warmup", "the first calls are slow: make the warm-up calls before you read the clock", count_calls=True)
def draw_warmup(task: str, world_size: int) -> st.SearchStrategy[examples_timing.Timing]:
    """{task} leaves slow first calls to the warm-up"""
    return examples_timing.slow_first(world_size)


@_timing(
    "synchronize",
    "the device works on after a call has returned: synchronise before each reading of the clock, the first (warm-up "
    "calls may still be at work) and the last",
)
def draw_synchronize(task: str, world_size: int) -> list[st.SearchStrategy[examples_timing.Timing]]:
    """{task} waits for the device before it reads the clock"""
    return [examples_timing.asynchronous(world_size, device) for device in examples_timing.DEVICES]


@_timing("slowest", SLOWEST, BOTH, needs_messages=True)
def draw_slowest(task: str, world_size: int) -> st.SearchStrategy[examples_timing.Timing]:
    """{task} gives the slowest rank's time, on every rank"""
    return examples_timing.unequal(world_size)


@_timing(
    "arrivals",
    "ranks do not arrive together: whoever is early measures how late the others are, unless a barrier before the "
    "first reading of the clock lets all start together",
)
def draw_arrivals(task: str, world_size: int) -> st.SearchStrategy[examples_timing.Timing]:
    """{task} does not take a rank that comes late for a slow collective"""
    return examples_timing.apart(world_size)


@_timing("barrier", "a barrier takes about as long as this call: none may lie between the two readings of the clock")
def draw_barrier(task: str, world_size: int) -> st.SearchStrategy[examples_timing.Timing]:
    """{task} measures the calls and nothing else"""
    return examples_timing.short(world_size)


@_timing("groups", "only the group's ranks measure: is group passed to the barrier, and where results are exchanged?")
def draw_groups(task: str, world_size: int) -> st.SearchStrategy[examples_timing.Timing]:
    """{task} works in a group of some of the ranks"""
    return examples_timing.grouped(world_size)


@_check("exact", "fit_latency_bandwidth", fitted)
def draw_exact(task: str, world_size: int) -> st.SearchStrategy[examples.Line]:
    """{task} finds latency and bandwidth of an exact line"""
    return examples.lines(noise=0.0)


@_check("noisy", "fit_latency_bandwidth", fitted)
def draw_noisy(task: str, world_size: int) -> st.SearchStrategy[examples.Line]:
    """{task} makes the sum of the squared relative errors least, and refuses what has no line"""
    return examples.lines(noise=0.05)


@_check("rows", "benchmark", benchmarked, BOTH, compare=beside)
def draw_rows(task: str, world_size: int) -> st.SearchStrategy[examples_timing.Benchmark]:
    """{task} gives a row for each size, of the tensors that were really used"""
    return examples_timing.benchmarks(world_size)


@_check("table", "format_table", printed)
def draw_table(task: str, world_size: int) -> st.SearchStrategy[examples.Table]:
    """{task} prints sizes, times and bandwidths as plain numbers"""
    return examples.tables()
