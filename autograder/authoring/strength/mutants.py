"""make mutants: changes every line of the solutions a little, and tells which changes no check notices."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from pathlib import Path

import click
import msgspec
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from autograder.authoring.strength.bench import PROBLEMS, SOLUTIONS, Bench, End, fitting, planned_checks, tasks_of
from autograder.authoring.strength.equivalent import FOLDER, Equivalent, explained, stale
from autograder.authoring.strength.mutate import Key, Mutant, mutants
from autograder.authoring.strength.reach import reached
from autograder.authoring.strength.record import Record
from autograder.authoring.variants import TESTS, described
from autograder.checks.finding import Status

KINDS = ("caught", "equivalent", "gpu", "survived", "fault")
# What solutions do for large tensors alone, and would do for no example of a check: the unusual submission that makes
# them do it for small ones, by problem.
IN_SMALL = {"collectives": "small_pieces"}


class Verdict(msgspec.Struct, frozen=True):
    """What became of a mutant.

    `kind` is "caught" by a check, "survived", explained as "equivalent" or as different on a "gpu" alone, or a "fault"
    of the kit's own.
    """

    mutant: Mutant
    kind: str
    check: str = ""
    reason: str = ""


def chosen(only: Collection[str], solutions: Path = SOLUTIONS) -> list[Mutant]:
    """The mutants of the problems, functions and methods that are named, or all of them."""
    made = [m for name in PROBLEMS for m in mutants((solutions / f"{name}.py").read_text(), name)]
    for name in only:
        if not any(fitting(mutant.module, mutant.where, [name]) for mutant in made):
            raise click.UsageError(f"nothing that is mutated is called {name!r}")
    return [mutant for mutant in made if fitting(mutant.module, mutant.where, only)]


def graded(bench: Bench, mutant: Mutant, thorough: bool = True) -> list[End]:
    """Grades a mutant on the tasks that it can make a difference to, up to the first check that catches it.

    If it is to be `thorough`, what survives a few examples meets all that a student's work meets, and then once more
    with what stands in IN_SMALL; else it meets a few examples of the base checks, and no more.
    """
    tasks = reached(mutant.source, [mutant.top], tasks_of(mutant.module))
    checks = [check for check in planned_checks(mutant.module, tasks) if thorough or check.id == check.base]
    ends = bench.ends(mutant.module, mutant.source, checks, stop=True)
    if thorough and ends[-1].status == Status.PASSED:
        ends = bench.ends(mutant.module, mutant.source, checks, stop=True, budget="local")
    if thorough and ends[-1].status == Status.PASSED and mutant.module in IN_SMALL:
        variant = TESTS / mutant.module / "unusual" / f"{IN_SMALL[mutant.module]}.py"
        fair = [check for check in checks if check.id not in described(variant).may_lose]
        ends = bench.ends(mutant.module, f"{mutant.source}\n\n{variant.read_text()}", fair, stop=True)
    return ends


def verdict(mutant: Mutant, ends: list[End], equivalents: dict[Key, Equivalent]) -> Verdict:
    """What these ends and the list of equivalents say of a mutant."""
    last = ends[-1]
    if last.fault:
        return Verdict(mutant, "fault", last.check, last.reason)
    if last.caught:
        return Verdict(mutant, "caught", last.check, last.reason)
    entry = equivalents.get(mutant.key)
    if entry is not None:
        return Verdict(mutant, "gpu" if entry.gpu else "equivalent", reason=entry.reason)
    return Verdict(mutant, "survived")


def run(only: Collection[str], console: Console, equivalent: Path = FOLDER) -> tuple[list[Verdict], list[str]]:
    """Grades what is not known yet; returns all verdicts, and what is wrong with the list of equivalents."""
    equivalents, record, verdicts = explained(equivalent), Record("mutants"), []
    todo = chosen(only)
    with Bench() as bench, Progress(console=console, transient=True) as progress:
        for mutant in progress.track(todo, description="mutants"):
            ends = record.known(mutant.source)
            if ends is None:
                ends = graded(bench, mutant, thorough=mutant.key not in equivalents)
                record.note(mutant.source, ends)
            verdicts.append(verdict(mutant, ends, equivalents))
            if verdicts[-1].kind in ("survived", "fault"):
                show(verdicts[-1], console)
    listed = [
        entry
        for entry in equivalents.values()
        for module, _, where in [entry.where.partition(".")]
        if fitting(module, where, only)
    ]
    caught = [v.mutant for v in verdicts if v.kind == "caught"]
    return verdicts, list(stale(listed, todo, caught))


def show(verdict: Verdict, console: Console) -> None:
    """One mutant that needs a look."""
    mutant = verdict.mutant
    words = f"fault of the kit in {verdict.check}: {verdict.reason}" if verdict.kind == "fault" else verdict.reason
    console.print(f"solutions/{mutant.module}.py:{mutant.line} {mutant.where} {words}", markup=False, highlight=False)
    console.print(f"    - {mutant.before}\n    + {mutant.after}", markup=False, highlight=False)


def table(verdicts: Collection[Verdict]) -> Table:
    """A row for each function, and one for each problem."""
    shown = Table(title="Mutants of the solutions", box=None)
    for name in (
        "",
        "mutants",
        "caught",
        "equivalent",
        "GPU only",
        "survived",
        "faults",
        "caught, of those that differ here",
    ):
        shown.add_column(name, justify="right" if name else "left")
    for problem in PROBLEMS:
        own = [v for v in verdicts if v.mutant.module == problem]
        if own:
            shown.add_row(problem, *_figures(own), style="bold")
        for where in dict.fromkeys(v.mutant.where for v in own):
            shown.add_row(f"  {where}", *_figures([v for v in own if v.mutant.where == where]))
    return shown


def _figures(verdicts: Collection[Verdict]) -> list[str]:
    count = Counter(v.kind for v in verdicts)
    differ = len(verdicts) - count["equivalent"] - count["gpu"]
    rate = f"{100 * count['caught'] / differ:.1f}%" if differ else ""
    return [str(len(verdicts)), *(str(count[k] or "") for k in KINDS), rate]
