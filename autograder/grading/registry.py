"""The checks of an assignment: the problems' folders on one side, assignment.toml on the other, which have to agree."""

from __future__ import annotations

import importlib

from autograder.checks.check import Check
from autograder.grading.assignment import Assignment, AssignmentError


def checks_of(problem: str) -> list[Check]:
    """The checks of autograder/problems/<problem>/checks.py; raises AssignmentError if there is no such file."""
    name = f"autograder.problems.{problem}.checks"
    try:
        module = importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name and name.startswith(error.name):
            raise AssignmentError(
                f"assignment.toml has a problem {problem!r}, but there is no autograder/problems/{problem}/checks.py"
            ) from None
        raise
    return list(module.CHECKS)


def load_checks(assignment: Assignment) -> dict[str, Check]:
    """All checks by id; raises AssignmentError unless they are those of assignment.toml."""
    checks = {check.id: check for problem in assignment.problems for check in checks_of(problem.name)}
    planned = {check.id for check in assignment.plan()}
    without_points, without_check = sorted(checks.keys() - planned), sorted(planned - checks.keys())
    if without_points:
        raise AssignmentError(f"assignment.toml gives no points to {', '.join(without_points)}")
    if without_check:
        raise AssignmentError(f"assignment.toml gives points to {', '.join(without_check)}, but no checks.py adds that")
    return checks
