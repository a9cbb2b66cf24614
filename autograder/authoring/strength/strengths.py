"""What the matrix says of each check: what it catches, what only it catches, and whom it wrongs."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping, Sequence
from importlib.metadata import version

import msgspec
from rich.console import Console
from rich.table import Table

from autograder.authoring.strength.bench import LEFT_OUT, PLANNED, End
from autograder.authoring.strength.matrix import Entry


class Strength(msgspec.Struct, frozen=True, kw_only=True):
    """One check; wrong and right submissions and mutants by name. `alone`: caught by no other check of the same task.

    Points are a task's: what another task's checks catch would still earn this one's.
    """

    check: str
    wrong: list[str]
    wrong_alone: list[str]
    right: int
    right_refused: list[str]
    mutants: int
    mutants_seen: int
    mutants_alone: list[str]

    @property
    def idle(self) -> bool:
        """Whether nothing that was tried would slip through without this check."""
        return not self.wrong_alone and not self.mutants_alone


class Strengths(msgspec.Struct, frozen=True, kw_only=True):
    """The whole result: each check, and what went wrong: caught by none, refused though right, faults of the kit."""

    measured: dict[str, str]
    checks: list[Strength]
    not_caught: list[str]
    refused: list[str]
    faults: list[str]


def strengths(ends: Mapping[Entry, Sequence[End]]) -> Strengths:
    """Sums the matrix up."""
    problems = {entry.problem for entry in ends}
    plan = [check for check in PLANNED.plan() if check.problem in problems and check.name not in LEFT_OUT]
    return Strengths(
        measured={"python": platform.python_version(), "torch": version("torch"), "cores": str(os.cpu_count())},
        checks=[_strength(check.id, ends) for check in plan],
        not_caught=[_name(e) for e in ends if e.kind == "mistakes" and not any(end.caught for end in ends[e])],
        refused=[f"{_name(e)}: {end.check}: {end.reason}" for e in ends for end in _unjust(e, ends[e])],
        faults=[f"{_name(e)}: {end.check}: {end.reason}" for e in ends for end in ends[e] if end.fault],
    )


def _strength(check: str, ends: Mapping[Entry, Sequence[End]]) -> Strength:
    seen = {entry for entry in ends if any(end.check == check for end in ends[entry])}
    task = check.rpartition(".")[0]
    catching = {
        entry: [end.check for end in ends[entry] if end.caught and end.check.rpartition(".")[0] == task]
        for entry in ends
        if entry in seen
    }

    def caught(kind: str, alone: bool = False) -> list[str]:
        return [e.name for e, by in catching.items() if e.kind == kind and (by == [check] if alone else check in by)]

    return Strength(
        check=check,
        wrong=caught("mistakes"),
        wrong_alone=caught("mistakes", alone=True),
        right=sum(entry.kind == "unusual" for entry in seen),
        right_refused=[e.name for e in seen for end in _unjust(e, ends[e]) if end.check == check],
        mutants=len(caught("mutants")),
        mutants_seen=sum(entry.kind == "mutants" for entry in seen),
        mutants_alone=caught("mutants", alone=True),
    )


def _unjust(entry: Entry, ends: Sequence[End]) -> list[End]:
    """What a right submission lost that it may not lose."""
    if entry.kind != "unusual":
        return []
    return [e for e in ends if e.caught and not any(f"{e.check}.".startswith(f"{id}.") for id in entry.may_lose)]


def _name(entry: Entry) -> str:
    return f"{entry.kind}/{entry.problem}/{entry.name}"


def show(found: Strengths, console: Console) -> None:
    """The table, what only one check catches, the checks that nothing rests on, and what went wrong."""
    console.print(_table(found.checks))
    console.print("\nCaught by this check alone of its task's (wrong submissions; mutants by number):", highlight=False)
    for check in found.checks:
        alone = [*check.wrong_alone, *([f"{len(check.mutants_alone)} mutants"] if check.mutants_alone else [])]
        if alone:
            console.print(f"  {check.check}: {', '.join(alone)}", markup=False, highlight=False)
    for title, lines in (
        ("Checks that catch nothing on their own:", [check.check for check in found.checks if check.idle]),
        ("Wrong submissions that no check catches:", found.not_caught),
        ("Right submissions that lose points:", found.refused),
        ("Faults of the kit:", found.faults),
    ):
        console.print(f"\n{title} {'none' if not lines else ''}", highlight=False)
        for line in lines:
            console.print(f"  {line}", markup=False, highlight=False)


def _table(checks: Sequence[Strength]) -> Table:
    shown = Table(
        title="What each check catches, and which unusual submissions it accepts", box=None, padding=(0, 1, 0, 0)
    )
    shown.add_column("", overflow="fold")
    for name in ("wrong", "alone", "accepted", "mutants", "alone"):
        shown.add_column(name, justify="right", min_width=len(name))
    for check in checks:
        accepted = f"{check.right - len(check.right_refused)}/{check.right}" if check.right else ""
        figures = [len(check.wrong), len(check.wrong_alone)]
        mutants = [f"{check.mutants}/{check.mutants_seen}" if check.mutants_seen else "", len(check.mutants_alone)]
        shown.add_row(check.check, *map(str, figures), accepted, *map(str, mutants), style="bold" if check.idle else "")
    return shown
