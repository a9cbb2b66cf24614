"""A failure, told to the student who has to fix it: one layout, shown in colour or as plain text."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence

import msgspec
from rich import box
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from autograder.checks.finding import RankView
from autograder.report.clean import cleaned, shorten
from autograder.report.model import Failure

MOST_RANKS = 8
MOST_OUTPUT_LINES = 12
PLAIN_WIDTH = 100
INDENT = 4


def trimmed(failure: Failure) -> Failure:
    """The failure made printable and short enough to be read."""
    failure = cleaned(failure)
    return msgspec.structs.replace(
        failure,
        headline=shorten(failure.headline, 1000, 8),
        call=shorten(failure.call, 1000, 8),
        setting=shorten(failure.setting, 500, 4),
        ranks=tuple(_trimmed_rank(view) for view in failure.ranks),
        where=tuple(shorten(line, 400, 4) for line in failure.where[:12]),
        hints=tuple(shorten(hint, 600, 6) for hint in failure.hints[:8]),
        output=shorten(failure.output.rstrip(), 2000, MOST_OUTPUT_LINES),
    )


def _trimmed_rank(view: RankView) -> RankView:
    short = {name: shorten(getattr(view, name), 400, 8) for name in ("given", "got", "expected", "note")}
    return msgspec.structs.replace(view, **short)


def shown_ranks(ranks: Sequence[RankView]) -> list[RankView]:
    """The ranks to show: all of a few; of many, those that are wrong first, in their order."""
    chosen = sorted(ranks, key=lambda view: (not view.wrong, view.rank))[:MOST_RANKS]
    return sorted(chosen, key=lambda view: view.rank)


def columns(ranks: Sequence[RankView]) -> list[str]:
    """The columns that say something for these ranks."""
    return [name for name in ("given", "got", "expected", "note") if any(getattr(view, name) for view in ranks)]


def texts(failure: Failure) -> Iterator[tuple[str, str]]:
    """What follows the table of ranks: (label, text), in the order in which it is read."""
    yield from (("where", line) for line in failure.where)
    yield from (("hint", hint) for hint in failure.hints)
    yield "printed", failure.output
    yield "repeat", failure.repeat
    yield "read", failure.read


def renderable(failure: Failure) -> RenderableType:
    """The failure for a rich console: what happened, in which call, on which ranks, where, why, and what to do."""
    failure = trimmed(failure)
    parts: list[RenderableType] = [Hanging(Text(failure.headline, style="bold"))]
    parts += _labelled([("call", failure.call), ("with", failure.setting)])
    if failure.ranks:
        parts += [Padding(_rank_table(failure.ranks), (1, 0))]
    parts += _labelled(list(texts(failure)))
    return Group(*parts)


class Hanging:
    """A text whose lines but the first are set in: an exception's text could look like lines of the report's own."""

    def __init__(self, text: Text) -> None:
        self._text = text

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        first, *others = self._text.wrap(console, options.max_width - INDENT)
        yield first
        for line in others:
            yield Padding(line, (0, 0, 0, INDENT))


def plain(failure: Failure, width: int = PLAIN_WIDTH) -> str:
    """The failure as plain text, lines at most `width` characters long."""
    out = io.StringIO()
    console = Console(file=out, width=width, color_system=None, force_terminal=False, legacy_windows=False, _environ={})
    console.print(renderable(failure))
    return "\n".join(line.rstrip() for line in out.getvalue().rstrip().split("\n"))


def _labelled(rows: list[tuple[str, str]]) -> list[RenderableType]:
    rows = [(label, text) for label, text in rows if text]
    if not rows:
        return []
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(style="dim", no_wrap=True, min_width=7)
    grid.add_column(overflow="fold")
    before = ""
    for label, text in rows:
        grid.add_row("" if label == before else label, Text(text))
        before = label
    return [grid]


def _rank_table(ranks: Sequence[RankView]) -> RenderableType:
    shown = shown_ranks(ranks)
    names = columns(shown)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="dim", show_edge=False)
    table.add_column("rank", no_wrap=True)
    for name in names:
        table.add_column(name, overflow="fold")
    for view in shown:
        wrong = "red" if view.wrong else ""
        cells = [Text(getattr(view, name), style=wrong if name == "got" else "") for name in names]
        table.add_row(Text(f"{'>' if view.wrong else ' '} {view.rank}", style=wrong), *cells)
    hidden = len(ranks) - len(shown)
    return Group(table, Text(f"and {hidden} more ranks", style="dim")) if hidden else table
