"""What came of judging an example, or a whole check: how it ended, and what is wrong, in words."""

from __future__ import annotations

import enum
from typing import NamedTuple

import msgspec


class Status(enum.StrEnum):
    """The end of one check. Only `PASSED` earns points; only `KIT_ERROR` and `NOT_RUN` are charged to nobody."""

    PASSED = "passed"
    FAILED = "failed"
    NOT_ATTEMPTED = "not_attempted"
    TIMEOUT = "timeout"
    CRASHED = "crashed"
    NOT_RUN = "not_run"
    KIT_ERROR = "kit_error"


class RankView(msgspec.Struct, frozen=True, kw_only=True):
    """One rank's part in a failed example, each field already in words (empty where there is nothing to say)."""

    rank: int
    given: str = ""
    got: str = ""
    expected: str = ""
    note: str = ""
    wrong: bool = False


class Mismatch(msgspec.Struct, frozen=True, kw_only=True):
    """What a judge found wrong. `ranks` need only what `Description` does not say: got, expected, note, wrong."""

    headline: str
    ranks: tuple[RankView, ...] = ()
    hints: tuple[str, ...] = ()
    where: tuple[str, ...] = ()


class Finding(NamedTuple):
    """What is wrong with an example: how a check that rests on it ends, and what a student is told."""

    status: Status
    mismatch: Mismatch

    @property
    def is_ordinary(self) -> bool:
        """Whether a judge found values wrong: no crash, no time-out, no fault of the kit."""
        return self.status is Status.FAILED
