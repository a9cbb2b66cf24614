"""The report on a terminal, and the progress that is shown while it is made."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterable, Iterator
from itertools import groupby
from types import TracebackType

import msgspec
from rich import box
from rich.console import Console
from rich.panel import Panel
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bar
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from autograder.checks.finding import Status
from autograder.report import summary
from autograder.report.clean import cleaned, one_line, printable, shorten
from autograder.report.failure import Hanging, renderable
from autograder.report.model import CheckResult, ProblemResult, Report, TaskResult
from autograder.report.summary import WORDS, counted, number, short_id

MOST_FAILURES = 10
MOST_FACTS = 4  # of one check

STYLES = {
    Status.PASSED: "green",
    Status.FAILED: "red",
    Status.TIMEOUT: "red",
    Status.CRASHED: "red",
    Status.NOT_ATTEMPTED: "yellow",
    Status.NOT_RUN: "dim",
    Status.KIT_ERROR: "bold magenta",
}


def open_console() -> Console:
    """A console on standard output that shows what its encoding lacks as escapes, instead of failing on it."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    return Console(highlight=False)


def show(report: Report, console: Console) -> None:
    """Prints the report: points first, then each failure, then what to do next."""
    report = cleaned(report)
    console.print(_heading(report))
    console.print(_points(report.problems))
    console.print(_total(report))
    for line in summary.why_incomplete(report):
        console.print(Text(line, style="yellow"))
    _show_failures(report, console)
    if report.kit_errors:
        console.print(_kit_errors(report))
    for note in report.notes:
        console.print(Text(f"note: {note}", style="dim"))
    _show_facts(report, console)
    console.print(Text(f"\n{summary.next_step(report)}", style="bold"), soft_wrap=True)


def _heading(report: Report) -> Text:
    setting = report.setting
    words = [setting.submission, setting.backend, f"{setting.budget} budget", f"seed {setting.seed}", setting.isolation]
    if setting.only:
        words.append(f"only {', '.join(setting.only)}")
    return Text(f"\n{report.title}\n", style="bold").append(", ".join(words) + "\n", style="not bold dim")


def _points(problems: Iterable[ProblemResult]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, header_style="dim", expand=False)
    table.add_column("", no_wrap=True)
    table.add_column("task and check", ratio=1)
    table.add_column("result")
    table.add_column("points", justify="right", no_wrap=True)
    for problem in problems:
        title = Text(problem.title).append("  extra credit" if problem.extra_credit else "", style="not bold dim")
        points = _of(problem.earned, problem.points)
        table.add_row(problem.number, title, "", points, style="bold")
        for task in problem.tasks:
            _add_task(table, task)
        table.add_section()
    return table


def _add_task(table: Table, task: TaskResult) -> None:
    """One row for a task whose checks all ended alike; else one row per check under it."""
    verdict = _common_status(task)
    result = Text(WORDS[verdict], style=STYLES[verdict]) if verdict else ""
    table.add_row(task.number, Text(f"  {task.name}"), result, _of(task.earned, task.points))
    for cells in [] if verdict else _check_rows(task):
        table.add_row(*cells)


def _common_status(task: TaskResult) -> Status | None:
    if summary.not_attempted(task):
        return Status.NOT_ATTEMPTED
    first = task.checks[0].status
    return first if first is not Status.NOT_RUN and all(check.status is first for check in task.checks) else None


def _check_rows(task: TaskResult) -> Iterator[tuple[Text | str, ...]]:
    for waits_for, group in groupby(task.checks, key=lambda check: check.waits_for):
        checks = list(group)
        if waits_for:
            names = f"    {len(checks)} more, not run until {waits_for.rpartition('.')[2]} passes"
            points = f"0 / {number(sum(check.points for check in checks))}"
            yield tuple(Text(text, style="dim") for text in ("", names, WORDS[Status.NOT_RUN], points))
            continue
        for check in checks:
            name = Text(f"    {check.id.rpartition('.')[2]}").append(f"  {one_line(check.title)}", style="dim")
            yield check.number, name, Text(WORDS[check.status], style=STYLES[check.status]), _check_points(check)


def _of(earned: float, points: float) -> str:
    return f"{number(earned)} / {number(points)}"


def _check_points(check: CheckResult) -> str:
    open_end = check.status in (Status.NOT_RUN, Status.KIT_ERROR)
    return f"? / {number(check.points)}" if open_end else _of(check.earned, check.points)


def _total(report: Report) -> Text:
    style = "bold yellow" if report.incomplete else "bold green" if report.earned >= report.points else "bold"
    return Text(f"\ntotal: {summary.total(report)}", style=style)


def _show_failures(report: Report, console: Console) -> None:
    """The failures in order; those that are the same are told once, and those after the first few in a line."""
    causes: dict[object, list[CheckResult]] = {}
    for check in report.checks:
        if check.status in summary.BROKEN:
            causes.setdefault(_cause(check), []).append(check)
    groups = list(causes.values())
    for first, *others in groups[:MOST_FAILURES]:
        _show_failure(first, others, console)
    if groups[MOST_FAILURES:]:
        console.print(Text("\nand, not told in full:", style="bold"))
    for first, *_ in groups[MOST_FAILURES:]:
        headline = first.failure.headline if first.failure else first.reason
        console.print(Hanging(Text(f"{_name(first)}: {shorten(one_line(headline), 200)}")))
    console.print()


def _show_facts(report: Report, console: Console) -> None:
    """Figures that checks have to tell, a few of each."""
    for check in report.checks:
        for fact, value in list(check.facts.items())[:MOST_FACTS]:
            console.print(Text(f"{short_id(check.id)}: {one_line(fact)}: {one_line(value)}", style="dim"))


def _cause(check: CheckResult) -> object:
    """Equal for checks that failed alike, such as all of a module that cannot be imported."""
    if check.failure is None:
        return check.reason
    return msgspec.structs.replace(check.failure, repeat="", read="")


def _name(check: CheckResult) -> str:
    return f"{check.number} {short_id(check.id)}"


def _show_failure(check: CheckResult, others: list[CheckResult], console: Console) -> None:
    style = STYLES[check.status]
    title = Text(f"{_name(check)}: {WORDS[check.status]}", style=f"bold {style}")
    console.print()
    console.print(Rule(title, align="left", style=style))
    if check.failure:
        console.print(renderable(check.failure))
    else:
        console.print(Text(shorten(check.reason or "no reason was recorded", 1000, 8)))
    if others:
        console.print(Text(f"the same for {', '.join(map(_name, others))}", style="dim"))


def _kit_errors(report: Report) -> Panel:
    setting = report.setting
    versions = ", ".join(f"{name} {version}" for name, version in setting.versions.items())
    text = Text("The grader itself failed here. This is charged to nobody, and this total is not a score.\n\n")
    for check in report.kit_errors:
        text.append(f"{check.number} {check.id}", style="bold")
        text.append(f": {shorten(check.reason or 'no reason was recorded', 600, 6)}\n")
    text.append("\nReport to whoever runs the assignment: the lines above, and\n")
    text.append(f"submission {setting.submission}, backend {setting.backend}, budget {setting.budget}, ")
    text.append(f"seed {setting.seed}, {setting.isolation}" + (f", {versions}" if versions else ""))
    return Panel(text, title=Text("THE GRADER FAILED", style="bold"), border_style="bold magenta", padding=(1, 2))


class Progress:
    """What is being checked now: a bar on a terminal, a line for each finished problem elsewhere."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._bar = Bar(
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=None),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            console=console,
            transient=True,
            refresh_per_second=4,
            disable=not console.is_terminal,
        )
        self._bar_task = self._bar.add_task("starting", total=None)
        self._left: dict[str, int] = {}
        self._passed: dict[str, int] = {}
        self._count: dict[str, int] = {}

    def __enter__(self) -> Progress:
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._bar.stop()

    def start(self, check_ids: Iterable[str]) -> None:
        """Says which checks there will be."""
        for check_id in check_ids:
            problem = check_id.partition(".")[0]
            self._count[problem] = self._count.get(problem, 0) + 1
        self._left = dict(self._count)
        self._bar.update(self._bar_task, total=sum(self._count.values()))

    def checking(self, check_id: str, world_size: int) -> None:
        """Says what is run now."""
        ranks = counted(world_size, "rank")
        self._bar.update(self._bar_task, description=printable(f"{check_id}, {ranks}").ljust(44))

    def done(self, result: CheckResult) -> None:
        """Takes the result of a check, once for each."""
        self._bar.advance(self._bar_task)
        problem = result.id.partition(".")[0]
        self._passed[problem] = self._passed.get(problem, 0) + (result.status is Status.PASSED)
        self._left[problem] = self._left.get(problem, 1) - 1
        if not self._left[problem] and not self._console.is_terminal:
            text = f"{problem}: {self._passed[problem]} of {counted(self._count.get(problem, 1), 'check')} passed"
            self._console.print(Text(text))
