"""make seeds: whether checks that should catch a wrong submission do so whatever the seed, or were lucky."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import NamedTuple

from rich.console import Console
from rich.progress import Progress

from autograder.authoring.strength.bench import Bench, planned_checks, problems, tasks_of
from autograder.authoring.strength.record import Record
from autograder.authoring.variants import described, source_of, variants, within


class Promise(NamedTuple):
    """A wrong submission, and what it says that it loses: a check, or any check of a task."""

    problem: str
    mistake: Path
    loses: str

    @property
    def source(self) -> str:
        """The solution with the mistake after it."""
        return source_of(self.mistake, self.problem)

    def is_kept_by(self, check: str) -> bool:
        """Whether it is this check, or one of the task, that has to fail."""
        return within(check, self.loses)


class Miss(NamedTuple):
    """A promise that was not kept with this seed, or a fault of the kit's."""

    promise: Promise
    seed: int
    fault: str = ""


def promises(only: Collection[str]) -> Iterator[Promise]:
    """Everything that the wrong submissions of these problems, or of all, are to lose."""
    for problem in problems(only):
        for path in variants("mistakes", problem):
            for loses in described(path).loses:
                yield Promise(problem, path, loses)


def run(only: Collection[str], seeds: int, console: Console) -> tuple[int, list[Miss]]:
    """Grades what is not known yet, as a student's work is, with seeds 0, 1, ...; how many promises, and the misses."""
    record, misses = Record("seeds"), []
    todo = [(promise, seed) for promise in promises(only) for seed in range(seeds)]
    with Bench() as bench, Progress(console=console, transient=True) as progress:
        for promise, seed in progress.track(todo, description="wrong submissions"):
            key = f"{seed} {promise.loses}\n{promise.source}"
            ends = record.known(key)
            if ends is None:
                checks = [
                    c for c in planned_checks(promise.problem, tasks_of(promise.problem)) if promise.is_kept_by(c.id)
                ]
                ends = bench.ends(promise.problem, promise.source, checks, stop=True, budget="local", seed=seed)
                record.note(key, ends)
            if not ends[-1].caught:
                misses.append(Miss(promise, seed, ends[-1].reason if ends[-1].fault else ""))
                show(misses[-1], console)
    return len(todo), misses


def show(miss: Miss, console: Console) -> None:
    """One line for what was missed."""
    said = f"fault of the kit: {miss.fault}" if miss.fault else "was not caught"
    name = f"{miss.promise.problem}/{miss.promise.mistake.stem}"
    console.print(f"{name}: {miss.promise.loses} with seed {miss.seed}: {said}", markup=False, highlight=False)
