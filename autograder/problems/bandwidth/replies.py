"""What rank.py hands back besides tensors, one struct for each of its functions; the judges read the same structs."""

from __future__ import annotations

import msgspec

from autograder.protocol.operation import Count

Row = tuple[str, str, str, str]


class FiguresReply(msgspec.Struct):
    """bandwidth.figures: the text of each number, or of each of several; whether what must be refused was."""

    results: list[str | list[str]]
    refuses: list[bool]


class TableReply(msgspec.Struct):
    """bandwidth.table: the text, and the type of what is none."""

    text: str | None
    type: str


class TimingReply(msgspec.Struct):
    """bandwidth.timing: the text of the number of seconds, and how often the collective was called."""

    seconds: str
    calls: Count


class RowsReply(msgspec.Struct):
    """bandwidth.rows: the texts of the four numbers of each row; whether each unknown collective was refused."""

    rows: list[Row]
    refuses: list[bool]
