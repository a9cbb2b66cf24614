"""What the grader and rank.py say to each other: arguments and reply of each function there, and numbers as text.

JSON knows neither infinity nor NaN, and a student's function may return anything: a number goes back as its `repr`,
whatever is none as its type's name.
"""

from __future__ import annotations

import math
import numbers
from typing import Any

import msgspec

from autograder.protocol.operation import Count

Groups = tuple[tuple[int, ...], ...] | None  # groups of ranks side by side; None: the whole world
Row = tuple[str, str, str, str]
Result = str | list[str]  # a number, or several


class FiguresArguments(msgspec.Struct, frozen=True):
    """Calls `function` for each of `collectives`, and of the names `refused`, with the same `rest` of its arguments."""

    function: str
    collectives: list[str]
    refused: list[str]
    rest: list[int | float]


class FiguresReply(msgspec.Struct, frozen=True):
    """What each call gave; whether each name that must be refused was."""

    results: list[Result]
    refuses: list[bool]


class FitArguments(msgspec.Struct, frozen=True):
    """Fits a line to the seconds of sizes; `unfit` are sizes and seconds that must be refused."""

    sizes: list[int]
    seconds: list[float]
    unfit: list[tuple[list[int], list[float]]]


class FitReply(msgspec.Struct, frozen=True):
    """What the fit gave; whether each of `unfit` was refused."""

    result: Result
    refuses: list[bool]


class TableArguments(msgspec.Struct, frozen=True):
    """Formats rows of size_bytes, seconds, algbw and busbw."""

    rows: list[tuple[int, float, float, float]]


class TableReply(msgspec.Struct, frozen=True):
    """The text, or None; the type of what was returned."""

    text: str | None
    type: str


class TimingArguments(msgspec.Struct, frozen=True, kw_only=True):
    """Times a scripted collective; all times are seconds.

    This rank comes `late`. A call sleeps for `own`, times the next of `factors`; the first `slow` calls sleep for
    `extra` on top; `work` is queued on the device (which is then `device`, in Python's words); at last comes an
    all-reduce of `nbytes`, if any. After the last warm-up call the rank sleeps for `apart`. Only the first `active` of
    the groups measure.
    """

    warmup: int
    iterations: int
    nbytes: int
    factors: tuple[int, ...]
    slow: int
    extra: float
    device: str
    own: float
    work: float
    late: float
    apart: float
    groups: Groups
    active: int


class TimingReply(msgspec.Struct, frozen=True):
    """The number of seconds, and how often the collective was called."""

    seconds: str
    calls: Count


class RowsArguments(msgspec.Struct, frozen=True, kw_only=True):
    """Runs a benchmark in the first `active` of the groups, and one of each name `refused`."""

    collective: str
    sizes: list[int]
    dtype: str
    warmup: int
    iterations: int
    groups: Groups
    active: int
    refused: tuple[str, ...]


class RowsReply(msgspec.Struct, frozen=True):
    """The four numbers of each row; whether each name that must be refused was."""

    rows: list[Row]
    refuses: list[bool]


def text_of(value: Any) -> str:
    """A number as text; of whatever is none the type's name."""
    return repr(float(value)) if isinstance(value, numbers.Real) else type(value).__name__


def number(text: Result) -> float:
    """The number that came back as text; NaN for what is none."""
    try:
        return float(text) if isinstance(text, str) else math.nan
    except ValueError:
        return math.nan
