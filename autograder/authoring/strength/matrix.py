"""make strength: every check against every wrong and every unusual submission, and against mutants of the solutions."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import NamedTuple

from rich.console import Console
from rich.progress import Progress

from autograder.authoring.strength.bench import SOLUTIONS, Bench, End, planned_checks, problems, tasks_of
from autograder.authoring.strength.mutate import mutants
from autograder.authoring.strength.reach import defined, reached
from autograder.authoring.strength.record import Record
from autograder.authoring.variants import described, source_of, variants


class Entry(NamedTuple):
    """One submission of the matrix: a module, its kind ("mistakes", "unusual" or "mutants"), and what it may lose."""

    kind: str
    name: str
    problem: str
    source: str
    tasks: tuple[str, ...]
    may_lose: tuple[str, ...] = ()


def entries(problem: str, every: int) -> Iterator[Entry]:
    """All submissions of a problem; of each function's mutants one in `every`, none for 0."""
    solution = (SOLUTIONS / f"{problem}.py").read_text()
    for kind in ("mistakes", "unusual"):
        for path in variants(kind, problem):
            yield _variant(kind, problem, path)
    made = mutants(solution, problem) if every else []
    for where in dict.fromkeys(mutant.where for mutant in made):
        for mutant in [m for m in made if m.where == where][:: every or 1]:
            tasks = reached(mutant.source, [mutant.top], tasks_of(problem))
            name = f"{where}:{mutant.line} {mutant.after}"
            yield Entry("mutants", name, problem, mutant.source, tuple(tasks))


def _variant(kind: str, problem: str, path: Path) -> Entry:
    """The solution with the file's definitions after it; tasks that cannot tell them apart from it are left out."""
    source = source_of(path, problem)
    says = described(path)
    changed = {*reached(source, defined(path.read_text()), tasks_of(problem))}
    changed |= {id.split(".")[1] for id in says.loses if "." in id}
    tasks = tuple(task for task in tasks_of(problem) if task in changed)
    return Entry(kind, path.stem, problem, source, tasks, says.may_lose)


def run(only: Collection[str], every: int, console: Console) -> dict[Entry, list[End]]:
    """Grades what is not known yet, each submission on every check that could tell it from the solution."""
    record, ends = Record("matrix"), {}
    todo = [entry for problem in problems(only) for entry in entries(problem, every)]
    with Bench() as bench, Progress(console=console, transient=True) as progress:
        for entry in progress.track(todo, description="submissions"):
            known = record.known(entry.source)
            if known is None:
                checks = planned_checks(entry.problem, entry.tasks)
                known = bench.ends(entry.problem, entry.source, checks, stop=False)
                record.note(entry.source, known)
            ends[entry] = known
    return ends
