"""Grades many submissions in a row, with or without a stop at the first check that catches them."""

from __future__ import annotations

import tempfile
from collections.abc import Collection
from pathlib import Path
from types import TracebackType
from typing import NamedTuple

import click
import msgspec

from autograder.checks.finding import Status
from autograder.cluster import launch
from autograder.cluster.cluster import Cluster
from autograder.grading.assignment import Budget, PlannedCheck, load
from autograder.grading.reference import ReferenceResults
from autograder.grading.registry import load_checks
from autograder.grading.session import Request, examination
from autograder.report.model import CheckResult
from autograder.system.paths import ROOT

SOLUTIONS = ROOT / "solutions"
# Fewer examples than a student's at first: what is caught by these is caught by more.
# One failure is enough here, however large: nothing smaller is looked for.
BUDGETS = {
    "few": Budget(examples=5, real_every=5, reference="failure", shrink=0),
    "local": msgspec.structs.replace(load().budgets["local"], shrink=0),
}
# What computes without end has shown it soon, and many a mutant does.
LIMITS = msgspec.structs.replace(load().limits, cpu_seconds=2.0)
PLANNED = msgspec.structs.replace(load(), budgets=BUDGETS, limits=LIMITS)
PROBLEMS = [problem.name for problem in PLANNED.problems]
# What these see, others see on fewer ranks.
LEFT_OUT = ("scale",)


class End(NamedTuple):
    """How one check ended on one submission: passed, caught, or a fault of the kit's own with its reason."""

    check: str
    status: str
    reason: str

    @property
    def caught(self) -> bool:
        return self.status not in (Status.PASSED, Status.KIT_ERROR)

    @property
    def fault(self) -> bool:
        return self.status == Status.KIT_ERROR


class Bench:
    """Ranks, checks and what the reference has shown, shared by all gradings; a context manager."""

    def __init__(self) -> None:
        self._checks = load_checks(PLANNED)
        self._reference_results: ReferenceResults = {}
        self._cluster = Cluster(launch.Start(PLANNED.limits))

    def __enter__(self) -> Bench:
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._cluster.close()

    def ends(
        self, module: str, source: str, checks: Collection[PlannedCheck], stop: bool, budget: str = "few", seed: int = 0
    ) -> list[End]:
        """How these checks end for a submission of this one module; `stop` leaves out what follows a failed one.

        No check waits for the base check of its task to pass.
        """
        with tempfile.TemporaryDirectory(prefix="mutant-", dir=self._cluster.home) as folder:
            Path(folder, f"{module}.py").write_text(source)
            request = Request(submission=folder, budget=budget, seed=seed)
            with examination(
                request, planned=PLANNED, cluster=self._cluster, reference_results=self._reference_results
            ) as examining:
                ends = []
                for check in checks:
                    ends.append(_end(examining.examine(self._checks[check.id])))
                    examining.results.clear()
                    if stop and ends[-1].status != Status.PASSED:
                        break
                return ends


def planned_checks(problem: str, tasks: Collection[str]) -> list[PlannedCheck]:
    """The checks of these tasks, the base checks first."""
    checks = [c for c in PLANNED.plan() if c.problem == problem and c.task in tasks and c.name not in LEFT_OUT]
    return sorted(checks, key=lambda check: check.id != check.base)


def problems(only: Collection[str]) -> list[str]:
    """The problems that ONLY= names, or all of them; raises UsageError for anything else."""
    for name in only:
        if name not in PROBLEMS:
            raise click.UsageError(f"{name!r} is no problem: there are {', '.join(PROBLEMS)}")
    return [name for name in PROBLEMS if not only or name in only]


def tasks_of(problem: str) -> list[str]:
    """The tasks of a problem, in the order of the assignment."""
    return [task.name for task in PLANNED.problem(problem).tasks]


def _end(result: CheckResult) -> End:
    return End(result.id, str(result.status), result.reason)


def fitting(problem: str, name: str, only: Collection[str]) -> bool:
    """Whether ONLY= names this definition, its method, or its problem; nothing named is everything."""
    parts = [problem, *name.split(".")]
    return not only or any(
        parts[i : i + len(wanted)] == wanted
        for wanted in (words.split(".") for words in only)
        for i in range(len(parts))
    )
