"""Judges of problem 2's figures, fits and tables."""

from __future__ import annotations

import math
from collections.abc import Sequence

from autograder.checks.finding import Mismatch, RankView
from autograder.checks.hints import first_hint
from autograder.checks.replies import read
from autograder.cluster.outcome import Outcome
from autograder.problems.bandwidth import hints
from autograder.problems.bandwidth.examples import Figures, Line, Table
from autograder.problems.bandwidth.expected import FACTORS, close, line
from autograder.problems.bandwidth.messages import FiguresReply, FitReply, TableReply, number


def expected_against_got(headline: str, got: object, expected: object, *hints: str) -> Mismatch:
    """A mismatch on the one rank that computes figures."""
    row = RankView(rank=0, got=str(got), expected=str(expected), wrong=True)
    return Mismatch(headline=headline, ranks=(row,), hints=hints)


def figures(example: Figures, outcome: Outcome) -> Mismatch | None:
    """factor x size, or that over the time, for every collective; unknown names are refused."""
    names = example.collectives
    reply = read(outcome.ranks[0], FiguresReply, results=len(names), refuses=int(bool(example.unknown)))
    if not all(reply.refuses):
        headline = f"{example.function} takes the unknown collective {example.unknown!r}: expected ValueError"
        return expected_against_got(headline, "no ValueError", "ValueError")
    for name, got in zip(names, reply.results, strict=True):
        expected = FACTORS[name](example.ranks) * example.size_bytes / example.seconds
        if not close(number(got), expected):
            hint = first_hint(hints.figure(example, name, number(got), expected))
            return expected_against_got(f"{example.spelled_out(repr(name))} is wrong", got, repr(expected), *hint)
    return None


def fitted(example: Line, outcome: Outcome) -> Mismatch | None:
    """The line with the least sum of squared relative errors; what has no line is refused."""
    reply = read(outcome.ranks[0], FitReply, refuses=len(example.unfit))
    pair = reply.result
    if isinstance(pair, str) or len(pair) != 2:
        return expected_against_got("fit_latency_bandwidth does not return two numbers", pair, "latency, bandwidth")
    latency, bandwidth = (number(text) for text in pair)
    best = line(example.sizes, example.seconds) if example.noise else (example.latency, example.bandwidth)
    if close(latency, best[0], 1e-3) and close(bandwidth, best[1], 1e-3):
        if all(reply.refuses):
            return None
        headline = "fit_latency_bandwidth takes what has no line: expected ValueError"
        return expected_against_got(
            headline, "no ValueError", "ValueError", "fewer than two different sizes, or lists of different lengths"
        )
    what = "latency" if not close(latency, best[0], 1e-3) else "bandwidth"
    return expected_against_got(
        f"the {what} of the fitted line is wrong",
        f"latency {latency:.6g} s, bandwidth {bandwidth:.6g} bytes per second",
        f"latency {best[0]:.6g} s, bandwidth {best[1]:.6g} bytes per second",
        *first_hint(hints.fit(example, latency, bandwidth, best)),
    )


def printed(example: Table, outcome: Outcome) -> Mismatch | None:
    """A heading, then four plain numbers a line, to four digits at least."""
    reply = read(outcome.ranks[0], TableReply)
    text = reply.text
    if text is None:
        return expected_against_got("format_table does not return text", reply.type, "str")
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
        if not close(figure, right, tolerance):
            return expected_against_got(f"the {title} is wrong", text, shown, *first_hint(hints.printed(figure, right)))
    return None
