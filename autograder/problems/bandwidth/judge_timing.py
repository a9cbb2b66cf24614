"""Judges of measured time: against the virtual clock of the simulated cluster, where the truth is known exactly."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from autograder.checks.finding import Mismatch, RankView
from autograder.checks.hints import first_hint
from autograder.checks.replies import read
from autograder.cluster.outcome import Outcome, RankOutcome
from autograder.problems.bandwidth import hints
from autograder.problems.bandwidth.examples_timing import NO_BENCHMARK, Benchmark, Timing
from autograder.problems.bandwidth.expected import FACTORS, WITHIN, close, simulated_seconds, used_bytes
from autograder.problems.bandwidth.hints import CLOCK, UNITS
from autograder.problems.bandwidth.messages import RowsReply, TimingReply, number

FACTOR = 3.0  # between two right measurements on the same GPUs, a moment apart
LARGE = 100_000  # bytes from which on a benchmark's time says something
Judge = Callable[[Timing, Outcome], Mismatch | None]


def timed(omission: str, count_calls: bool = False) -> Judge:
    """A judge of time_collective. `omission` is what whoever is wrong here has most likely left out."""

    def judge(example: Timing, outcome: Outcome) -> Mismatch | None:
        replies = {rank: read(outcome.ranks[rank], TimingReply) for rank in example.measuring()}
        if count_calls:
            mismatch = _miscounted(example, replies, omission)
            if mismatch is not None:
                return mismatch
        got = {rank: number(reply.seconds) for rank, reply in replies.items()}
        if outcome.seconds is None:
            return _plausible(example, got, replies)
        truth = {rank: example.truth(rank) for rank in got}
        wrong = {rank for rank in got if not close(got[rank], truth[rank], WITHIN)}
        if not wrong:
            return _uncalled(example, outcome, outcome.seconds, truth)
        first = min(wrong)
        rows = tuple(
            RankView(rank=rank, got=_ms(got[rank]), expected=_ms(truth[rank]), wrong=rank in wrong) for rank in got
        )
        hint = first_hint(hints.seconds(example, got, truth, first)) or (omission,)
        return Mismatch(
            headline=f"rank {first} measures {_ms(got[first])} a call, where a call takes {_ms(truth[first])}",
            ranks=rows,
            hints=hint,
        )

    return judge


def _ms(seconds: float) -> str:
    return f"{seconds * 1e3:.6g} ms"


def _miscounted(example: Timing, replies: dict[int, TimingReply], omission: str) -> Mismatch | None:
    """Exactly warmup + iterations calls are made."""
    due = example.warmup + example.iterations
    calls = {rank: reply.calls for rank, reply in replies.items()}
    wrong = [rank for rank, count in calls.items() if count != due]
    if not wrong:
        return None
    rows = tuple(
        RankView(rank=rank, got=f"{count} calls", expected=f"{due} calls", wrong=count != due)
        for rank, count in calls.items()
    )
    return Mismatch(
        headline=f"rank {wrong[0]} makes {calls[wrong[0]]} calls, where {example.warmup} for the warm-up and "
        f"{example.iterations} to measure are expected",
        ranks=rows,
        hints=(omission,),
    )


def _uncalled(example: Timing, outcome: Outcome, lasted: Sequence[float], truth: dict[int, float]) -> Mismatch | None:
    """By the switch's record, the calls that were measured have been made, and ranks have `lasted` for their time."""
    for rank, seconds in truth.items():
        made = [op for op in outcome.ranks[rank].operations if op.kind == "all_reduce" and op.nbytes == example.nbytes]
        few = example.nbytes and example.size > 1 and len(made) < example.iterations
        if few or lasted[rank] < (1 - WITHIN) * example.iterations * seconds:
            return Mismatch(
                headline=f"rank {rank} tells the right time of {example.iterations} calls that it has not made",
                hints=("seconds are to be measured: whatever is known of a call beforehand is no measurement",),
            )
    return None


def _plausible(example: Timing, got: dict[int, float], replies: dict[int, TimingReply]) -> Mismatch | None:
    """On a real machine: a positive number, and where ranks are not alike the same on all of them."""
    positive = all(math.isfinite(seconds) and seconds > 0 for seconds in got.values())
    same = len(set(example.own)) == 1 or len(set(got.values())) == 1
    if positive and same:
        return None
    rows = tuple(RankView(rank=rank, got=reply.seconds) for rank, reply in replies.items())
    what = "gives ranks different results" if positive else "gives no positive number of seconds"
    return Mismatch(headline=f"time_collective {what}", ranks=rows)


def benchmarked(example: Benchmark, outcome: Outcome) -> Mismatch | None:
    """A row a size: of the tensors really used, with bandwidths that follow from it, at a plausible time."""
    for number_of_rank in example.measuring():
        rank = outcome.ranks[number_of_rank]
        reply = read(rank, RowsReply, refuses=len(NO_BENCHMARK))
        if len(reply.rows) != len(example.sizes):
            return Mismatch(headline=f"benchmark returns {len(reply.rows)} rows for {len(example.sizes)} sizes")
        for requested, row in zip(example.sizes, reply.rows, strict=True):
            mismatch = _row(example, outcome, rank, requested, [number(text) for text in row])
            if mismatch is not None:
                return mismatch
        for name, refused in zip(NO_BENCHMARK, reply.refuses, strict=True):
            if not refused:
                return Mismatch(headline=f"benchmark takes {name!r}, which is none of its five: expected ValueError")
    return None


def beside(example: Benchmark, outcome: Outcome, reference: Outcome) -> tuple[dict[str, str], Mismatch | None]:
    """A benchmark's times beside the reference's, right after it on the same machine.

    Far from them is wrong on GPUs alone. CPUs that other work shares are too noisy to judge by: there the figures are
    to be read.
    """
    rank = example.measuring()[0]
    facts = {}
    both = (read(of.ranks[rank], RowsReply).rows for of in (outcome, reference))
    for yours, its in zip(*both, strict=True):
        size, seconds, other = number(yours[0]), number(yours[1]), number(its[1])
        if not size >= LARGE:
            continue
        what = f"{example.task} of {size:,.0f} bytes on {example.size} ranks"
        facts[what] = f"{_ms(seconds)}, the reference right after it {_ms(other)}"
        if outcome.ranks[rank].device == "cuda" and example.size > 1 and not 1 / FACTOR < seconds / other < FACTOR:
            view = RankView(rank=rank, got=_ms(seconds), expected=f"about {_ms(other)}", wrong=True)
            headline = f"seconds is far from what the reference measures: {what}"
            return facts, Mismatch(headline=headline, ranks=(view,), hints=(CLOCK,))
    return facts, None


def _row(example: Benchmark, outcome: Outcome, rank: RankOutcome, requested: int, row: list[float]) -> Mismatch | None:
    size, seconds, algbw, busbw = row
    n = example.size

    def wrong(headline: str, got: str, expected: str, *hint: str) -> Mismatch:
        view = RankView(rank=rank.rank, got=got, expected=expected, wrong=True)
        return Mismatch(headline=f"{headline} in the row of {requested} bytes", ranks=(view,), hints=hint)

    used = used_bytes(example.task, requested, example.dtype.itemsize, n)
    if size != used:
        hint = first_hint(hints.size(example, requested, size, used))
        return wrong("size_bytes is wrong", f"{size:.0f}", str(used), *hint)
    group = example.groups[example.place(rank.rank)[0]]
    moved = [op.nbytes for op in rank.operations if op.kind == example.task and op.group == tuple(group)]
    sizes = [used_bytes(example.task, size, example.dtype.itemsize, n) for size in example.sizes]
    calls = moved.count(used) / sizes.count(used)
    # A warm-up that is left out, or made twice, is time_collective's fault; somebody may have had a look at a result.
    # The ranks' times may travel in a small collective of that kind.
    fewest, most = example.iterations, 2 * example.warmup + example.iterations
    if calls < fewest or (used >= LARGE and calls > most):
        seen = ", ".join(f"{moved.count(size)} of {size} bytes" for size in sorted(set(moved) - {8})) or "none"
        handed_on = f"warmup={example.warmup} and iterations={example.iterations} are handed on to time_collective"
        other = used not in moved
        hint = first_hint(hints.size(example, requested, 0.0, used)) if other else (handed_on,)
        return wrong(
            "the tensors have another size than the row says" if other else f"{calls:g} calls are made",
            f"{example.task} in the group {list(group)}: {seen}",
            f"{(example.warmup + example.iterations) * sizes.count(used)} of {used} bytes",
            *hint,
        )
    if not (math.isfinite(seconds) and seconds > 0):
        return wrong("seconds is no positive number", str(seconds), "a positive number")
    expected_algbw, expected_busbw = size / seconds, FACTORS[example.task](n) * size / seconds
    for name, got, expected in (("algbw", algbw, expected_algbw), ("busbw", busbw, expected_busbw)):
        if not close(got, expected, 1e-6):
            formula = "size_bytes / seconds" if name == "algbw" else "bandwidth(collective, size_bytes, n, seconds)"
            return wrong(f"{name} is wrong", f"{got:.6g}", f"{expected:.6g} bytes per second, {formula}", UNITS)
    truth = simulated_seconds(example.task, used, n)
    if outcome.seconds is not None and used >= LARGE and not 0.5 < seconds / truth < 2:
        return wrong(
            "seconds is far from what a call takes",
            _ms(seconds),
            _ms(truth),
            f"of one call, in seconds; {example.iterations} iterations were asked for. {CLOCK}",
        )
    return None
