"""Reads assignment.toml: the problems, their tasks and checks, points, budgets and limits."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import msgspec

from autograder.protocol.limits import Limits
from autograder.system.paths import ROOT

DEFAULT = ROOT / "assignment" / "assignment.toml"


class AssignmentError(Exception):
    """assignment.toml cannot be used; the text says where and why."""


class Budget(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How much is tried: `examples` for each check at each world size.

    Where a check runs on the simulated cluster first, one in `real_every` of its examples runs on the real backend too.
    `reference` says when the reference is asked about an example: of every "failure", or "always". `shrink` is what the
    search for a smaller failure may spend on a check, in wrong values seen.
    """

    examples: int
    real_every: int = 1
    reference: Literal["failure", "always"] = "always"
    shrink: float = 400


class CheckSpec(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A check's line in assignment.toml: its points, and what differs from its problem."""

    points: float
    world_sizes: tuple[int, ...] | None = None
    examples: int | None = None
    visibility: str = "visible"


class Task(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A function or class to write; `checks` maps each check's name to its points, the base check first."""

    name: str
    checks: dict[str, float | CheckSpec]


class Problem(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A module of the handout.

    `allowed` are the operations of a process group that it may use (empty: all), `refused` the classes and functions of
    torch that it may not call, by dotted name.
    """

    name: str
    title: str
    world_sizes: tuple[int, ...]
    tasks: tuple[Task, ...]
    allowed: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    extra_credit: bool = False


class PlannedCheck(msgspec.Struct, frozen=True):
    """One check as planned: what it is worth, and how many examples it has to pass at which world sizes."""

    id: str
    number: str
    points: float
    world_sizes: tuple[int, ...]
    examples: int | None
    base: str
    visibility: str
    problem: str
    task: str

    @property
    def name(self) -> str:
        return self.id.rpartition(".")[2]


class Assignment(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The whole of assignment.toml."""

    title: str
    budgets: dict[str, Budget]
    limits: Limits
    problems: tuple[Problem, ...]

    def problem(self, name: str) -> Problem:
        """The problem of that name; KeyError if there is none."""
        return {problem.name: problem for problem in self.problems}[name]

    def plan(self) -> list[PlannedCheck]:
        """Every check, in the order of the file."""
        return [
            check
            for p, problem in enumerate(self.problems, 1)
            for t, task in enumerate(problem.tasks, 1)
            for check in _planned(problem, task, f"{p}.{t}")
        ]


def _planned(problem: Problem, task: Task, number: str) -> list[PlannedCheck]:
    prefix = f"{problem.name}.{task.name}"
    specs = {name: s if isinstance(s, CheckSpec) else CheckSpec(points=s) for name, s in task.checks.items()}
    base = f"{prefix}.{next(iter(specs))}"
    return [
        PlannedCheck(
            id=f"{prefix}.{name}",
            number=f"{number}.{c}",
            points=spec.points,
            world_sizes=spec.world_sizes or problem.world_sizes,
            examples=spec.examples,
            base=base,
            visibility=spec.visibility,
            problem=problem.name,
            task=task.name,
        )
        for c, (name, spec) in enumerate(specs.items(), 1)
    ]


def load(path: Path = DEFAULT) -> Assignment:
    """Reads and validates assignment.toml; raises AssignmentError with the place and the reason."""
    try:
        assignment = msgspec.toml.decode(path.read_bytes(), type=Assignment)
    except OSError as error:
        raise AssignmentError(f"{path.name}: {error.strerror}") from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise AssignmentError(f"{path.name}: {error}") from None
    _validate(assignment, path.name)
    return assignment


def _validate(assignment: Assignment, name: str) -> None:
    for problem in assignment.problems:
        if not problem.tasks or any(not task.checks for task in problem.tasks):
            raise AssignmentError(f"{name}: problem {problem.name!r} has no tasks, or a task without checks")
    ids = [check.id for check in assignment.plan()]
    twice = sorted({id for id in ids if ids.count(id) > 1})
    if twice:
        raise AssignmentError(f"{name}: named twice: {', '.join(twice)}")
    if any(check.points < 0 or not check.world_sizes or min(check.world_sizes) < 1 for check in assignment.plan()):
        raise AssignmentError(f"{name}: points are at least 0 and world sizes at least 1")


def select(planned: Assignment, only: Sequence[str]) -> list[PlannedCheck]:
    """The checks that any of `only` names: a problem, a task, a check, or the end of an id; all of them without any.

    Raises AssignmentError if a name fits nothing, with what there is.
    """
    plan = planned.plan()
    if not only:
        return plan
    for name in only:
        if not any(_named(check, name) for check in plan):
            tasks = dict.fromkeys(check.task for check in plan)
            raise AssignmentError(
                f"nothing is called {name!r}; there are the problems {', '.join(p.name for p in planned.problems)} "
                f"and the tasks {', '.join(tasks)}"
            )
    return [check for check in plan if any(_named(check, name) for name in only)]


def _named(check: PlannedCheck, name: str) -> bool:
    parts, wanted = check.id.split("."), name.split(".")
    return any(parts[i : i + len(wanted)] == wanted for i in range(len(parts) - len(wanted) + 1))
