"""Judges of problem 2's figures, fits and tables."""

from __future__ import annotations

import math
from collections.abc import Sequence

from autograder.checks.finding import Mismatch, RankView
from autograder.checks.replies import read
from autograder.cluster.outcome import Outcome
from autograder.problems.bandwidth.examples import Figures, Line, Table
from autograder.problems.bandwidth.expected import FACTORS, line
from autograder.problems.bandwidth.replies import FiguresReply, TableReply

LARGE_SIDE = "the size of {} is the large side, all ranks' parts together"
UNITS = "bytes, seconds and bytes per second throughout; 1 GB is 1e9 bytes"


def number(text: object) -> float:
    """A number that came back as text; NaN for what is none."""
    try:
        return float(text) if isinstance(text, str) else math.nan
    except ValueError:
        return math.nan


def close(got: float, expected: float, tolerance: float = 1e-9) -> bool:
    """Equal up to a relative tolerance; never for NaN."""
    return abs(got - expected) <= tolerance * abs(expected)


def expected_against_got(headline: str, got: object, expected: object, *hints: str) -> Mismatch:
    """A mismatch on the one rank that computes figures."""
    row = RankView(rank=0, got=str(got), expected=str(expected), wrong=True)
    return Mismatch(headline=headline, ranks=(row,), hints=tuple(hints))


def figures(example: Figures, outcome: Outcome) -> Mismatch | None:
    """factor x size, or that over the time, for every collective; unknown names are refused."""
    calls = 0 if example.unknown else len(example.calls)
    words = read(outcome.ranks[0], FiguresReply, results=calls, refuses=int(bool(example.unknown)))
    if not all(words.refuses):
        headline = f"{example.function} takes the unknown collective {example.unknown!r}, where a ValueError is due"
        return expected_against_got(headline, "no ValueError", "ValueError")
    for arguments, got in zip(example.calls, words.results, strict=False):
        name, n = arguments[0], example.ranks
        expected = FACTORS[name](n) * example.size_bytes / example.seconds
        if close(number(got), expected):
            continue
        call = f"{example.function}({', '.join(map(repr, arguments))})"
        return expected_against_got(
            f"{call} is wrong", got, repr(expected), *_figure_hints(example, name, number(got), expected)
        )
    return None


def _figure_hints(example: Figures, name: str, got: float, expected: float) -> tuple[str, ...]:
    """The first explanation that fits."""
    n, ratio = example.ranks, got / expected if expected else math.nan
    one_rank = n == 1 and not close(got, 0.0)
    known = [
        (ratio * 1e9, "this is in GB: " + UNITS),
        (ratio * 2**30, "this is in GiB: " + UNITS),
        (ratio / 8, "this is in bits: " + UNITS),
        (ratio * n, f"this is an n-th of it, with n = {n} ranks in the world: bytes and time are both one rank's"),
        (ratio * 2, "this is half of it: an all-reduce is a reduce-scatter and an all-gather, both are sent"),
        (ratio / 2, "this is twice as much: only an all-reduce sends the data twice"),
    ]
    parts = name not in ("all_reduce", "broadcast", "reduce", "send_recv")
    if n > 1 and close(ratio, n):
        return (
            LARGE_SIDE.format(name) if parts else f"this is n times it, with n = {n}: bytes of all ranks, not of one",
        )
    if n > 1 and close(ratio, n - 1) and name == "broadcast":
        return ("no rank has to send every copy itself: whoever has the tensor can pass it on",)
    if name == "all_reduce" and (one_rank or close(ratio, n / (n - 1) if n > 1 else math.nan)):
        return ("all_reduce's factor is 2 (n-1)/n, not 2",)
    if got.is_integer() and not expected.is_integer():
        return ("the result need not be whole: nothing is rounded",)
    return tuple(hint for factor, hint in known if close(factor, 1.0))[:1]


def fitted(example: Line, outcome: Outcome) -> Mismatch | None:
    """The line with the least sum of squared relative errors; what has no line is refused."""
    words = read(outcome.ranks[0], FiguresReply, results=1, refuses=len(example.unfit))
    pair = words.results[0]
    if isinstance(pair, str) or len(pair) != 2:
        return expected_against_got("fit_latency_bandwidth does not return two numbers", pair, "latency, bandwidth")
    latency, bandwidth = (number(text) for text in pair)
    best = line(example.sizes, example.seconds) if example.noise else (example.latency, example.bandwidth)
    if close(latency, best[0], 1e-3) and close(bandwidth, best[1], 1e-3):
        if all(words.refuses):
            return None
        headline = "fit_latency_bandwidth takes what has no line, where a ValueError is due"
        return expected_against_got(
            headline, "no ValueError", "ValueError", "fewer than two different sizes, or lists of different lengths"
        )
    what = "latency" if not close(latency, best[0], 1e-3) else "bandwidth"
    return expected_against_got(
        f"the {what} of the fitted line is wrong",
        f"latency {latency:.6g} s, bandwidth {bandwidth:.6g} bytes per second",
        f"latency {best[0]:.6g} s, bandwidth {best[1]:.6g} bytes per second",
        *_fit_hints(example, latency, bandwidth, best),
    )


def _fit_hints(example: Line, latency: float, bandwidth: float, best: tuple[float, float]) -> tuple[str, ...]:
    if close(latency, best[1], 1e-2) and close(bandwidth, best[0], 1e-2):
        return ("latency comes first, bandwidth second",)
    if close(bandwidth * best[1], 1.0, 1e-2):
        return ("this is the slope, seconds per byte: bandwidth is in bytes per second",)
    if latency == 0:
        return ("the line does not go through zero: it begins at the latency",)
    if example.noise:
        return (
            "the sum of the squared relative errors, ((latency + size / bandwidth - t) / t) ** 2, is to be least: in "
            "plain least squares the largest sizes alone decide",
        )
    return ()


def printed(example: Table, outcome: Outcome) -> Mismatch | None:
    """A heading, then four plain numbers a line, to four digits at least."""
    words = read(outcome.ranks[0], TableReply)
    text = words.text
    if text is None:
        return expected_against_got("format_table does not return text", words.type, "str")
    lines = [text_line for text_line in text.splitlines() if text_line.strip()]
    if len(lines) != 1 + len(example.rows):
        headline = f"{len(example.rows)} rows are printed as {len(lines)} lines"
        return expected_against_got(headline, text, "one line that names the columns, then a line for each row")
    for printed_line, row in zip(lines[1:], example.measurements, strict=True):
        mismatch = _printed_row(printed_line, row)
        if mismatch is not None:
            return mismatch
    return None


def _printed_row(text: str, row: Sequence[float]) -> Mismatch | None:
    size, seconds, algbw, busbw = row
    wanted = (float(size), seconds * 1e6, algbw / 1e9, busbw / 1e9)
    shown = f"{size:.0f} {' '.join(f'{figure:.6g}' for figure in wanted[1:])}"
    words = text.split()
    got = [number(word) for word in words]
    if len(words) != 4 or any(math.isnan(figure) for figure in got):
        return expected_against_got("a row's line is not four plain numbers between spaces", text, shown)
    titles = ("size in bytes", "time in microseconds", "algbw in GB/s", "busbw in GB/s")
    for title, figure, right in zip(titles, got, wanted, strict=True):
        tolerance = 0.0 if title.startswith("size") else 1e-3
        if close(figure, right, tolerance):
            continue
        hints = [hint for ratio, hint in _UNIT_HINTS if close(figure, right * ratio, 1e-2)]
        rounded = abs(figure - right) < 0.5 and not hints
        few_digits = ["at least four significant digits, however small the number: f'{x:.5g}' has them"] * rounded
        return expected_against_got(f"the {title} is wrong", text, shown, *(hints or few_digits)[:1])
    return None


_UNIT_HINTS = (
    (1e9 / 2**30, "this is in GiB/s: 1 GB is 1e9 bytes"),
    (1e-3, "this is a thousandth: milliseconds, or a GB of 1e12 bytes?"),
    (1e3, "this is a thousand times too much: MB/s, or nanoseconds?"),
    (1e-6, "this is in seconds, where microseconds are asked for"),
    (8.0, "this is in bits: 1 GB is 1e9 bytes of 8 bits"),
)
