"""Every wrong submission loses the points of its task and no other's, and is told why; every right one keeps all."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from autograder.authoring.strength.reach import affected, defined
from autograder.authoring.variants import described, source_of, submission_of, variants, within
from autograder.checks.finding import Status
from autograder.grading.assignment import Budget, load
from autograder.report.clean import one_line
from autograder.report.failure import plain
from autograder.report.model import Report

PROBLEMS = [problem.name for problem in load().problems]


def _wrong() -> Iterator[Any]:
    """Of each problem one file for each number in the list of mistakes, and one without; the rest is thorough."""
    tried: set[tuple[str, int | None]] = set()
    for problem in PROBLEMS:
        for path in variants("mistakes", problem):
            kind = (problem, described(path).mistake)
            marks = [pytest.mark.thorough] if kind in tried else []
            tried.add(kind)
            yield pytest.param(problem, path, id=f"{problem}-{path.stem}", marks=marks)


def _right() -> Iterator[Any]:
    for problem in PROBLEMS:
        for path in variants("unusual", problem):
            marks = [pytest.mark.thorough] if described(path).thorough else []
            yield pytest.param(problem, path, id=f"{problem}-{path.stem}", marks=marks)


WRONG, RIGHT = list(_wrong()), list(_right())


# Fewer examples than a student's: what is caught by these is caught by more.
FEW = msgspec.structs.replace(load(), budgets={"local": Budget(examples=5, real_every=5, reference="failure")})
# What holds of every example holds of two; every kind of example that a check names is tried all the same.
FEWER = msgspec.structs.replace(load(), budgets={"local": Budget(examples=2, real_every=2, reference="failure")})
# The other tasks are the reference's own code: one example of each base check shows that nothing spilled over.
GLANCE = msgspec.structs.replace(load(), budgets={"local": Budget(examples=1, reference="failure")})


def _affected(path: Path, problem: str) -> set[str]:
    """The tasks that the file's definitions can make a difference to: the others are the reference's own code."""
    tasks = [task.name for task in load().problem(problem).tasks]
    return affected(source_of(path, problem), defined(path.read_text()), tasks)


def _lost(report: Report) -> dict[str, str]:
    """The checks that did not pass, with what a student is shown."""
    return {
        check.id: plain(check.failure) if check.failure else check.reason
        for check in report.checks
        if check.status is not Status.PASSED
    }


def _checks(ids: Iterable[str]) -> list[str]:
    """The checks of these problems and tasks, but for those of scale: what they see, the others see on fewer ranks."""
    return [check.id for check in load().plan() if _within(check.id, tuple(ids)) and check.name != "scale"]


def _within(check: str, ids: tuple[str, ...]) -> bool:
    return any(within(check, id) for id in ids)


@pytest.mark.parametrize(("problem", "path"), WRONG)
def test_wrong_submission(problem: str, path: Path, tmp_path: Path, graded: Callable[..., Report]) -> None:
    variant = described(path)
    submission = submission_of(path, problem, tmp_path)
    tasks = {".".join(id.split(".")[:2]) for id in variant.loses}
    report = graded(submission, *_checks(tasks), planned=FEW)
    lost = _lost(report)
    assert not report.kit_errors
    for id in variant.loses:
        assert any(_within(check, (id,)) for check in lost), f"{id} was not caught"
    changed = _affected(path, problem)
    bases = {check.base: check.task for check in load().plan() if check.problem == problem}
    others = {base for base, task in bases.items() if task in changed and f"{problem}.{task}" not in tasks}
    lost_elsewhere = _lost(graded(submission, *others, planned=GLANCE)) if others else {}
    strangers = {check: text for check, text in (lost | lost_elsewhere).items() if not _within(check, variant.loses)}
    assert not strangers, "\n".join(f"{check}: {text}" for check, text in strangers.items())
    shown = "\n".join(map(one_line, lost.values()))
    for pattern in variant.says:
        assert re.search(pattern, shown, re.IGNORECASE), f"{pattern!r} is not in:\n{shown}"
    assert "payload was zeroed" not in shown, f"an honest mistake is taken for a cheat:\n{shown}"


@pytest.mark.parametrize(("problem", "path"), RIGHT)
def test_unusual_submission(problem: str, path: Path, tmp_path: Path, graded: Callable[..., Report]) -> None:
    variant = described(path)
    chosen = [f"{problem}.{task}" for task in _affected(path, problem)]
    lost = _lost(graded(submission_of(path, problem, tmp_path), *_checks(chosen), planned=FEWER))
    assert not {check: text for check, text in lost.items() if not _within(check, variant.may_lose)}


@pytest.mark.parametrize("path", [path for problem in PROBLEMS for path in variants("mistakes", problem)])
def test_a_mistake_says_what_it_loses_and_what_is_said_of_it(path: Path) -> None:
    variant, problem = described(path), path.parent.parent.name
    planned = {check.id for check in load().plan()}
    assert variant.loses and variant.says
    for id in variant.loses:
        assert id.startswith(f"{problem}.") and any(within(check, id) for check in planned)
