"""What every report says about the whole: the total, why it is not the last word, and what to do next."""

from __future__ import annotations

from collections.abc import Sequence

from autograder.checks.finding import Status
from autograder.report.clean import one_line
from autograder.report.model import CheckResult, ProblemResult, Report, TaskResult

WORDS = {
    Status.PASSED: "passed",
    Status.FAILED: "failed",
    Status.NOT_ATTEMPTED: "not attempted",
    Status.TIMEOUT: "timed out",
    Status.CRASHED: "crashed",
    Status.NOT_RUN: "not run",
    Status.KIT_ERROR: "kit error",
}

BROKEN = (Status.FAILED, Status.TIMEOUT, Status.CRASHED)


def number(points: float) -> str:
    """Points as people write them: 3, 2.5."""
    return f"{round(points, 3):g}"


def counted(count: int, noun: str) -> str:
    """`1 check`, `2 checks`."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def earned(problems: Sequence[ProblemResult], *, extra_credit: bool = False) -> float:
    """Points earned in the core problems, or in those for extra credit."""
    return sum(problem.earned for problem in problems if problem.extra_credit is extra_credit)


def total(report: Report) -> str:
    """`27.5 of 30`, extra credit apart, `incomplete` where some checks could not speak."""
    text = f"{number(earned(report.problems))} of {number(report.points)}"
    if any(problem.extra_credit for problem in report.problems):
        text += f", and {number(earned(report.problems, extra_credit=True))} extra credit"
    return text + ", incomplete" if report.incomplete else text


def why_incomplete(report: Report) -> list[str]:
    """A sentence for each reason why checks could not be run, with what they are worth."""
    by_reason: dict[tuple[Status, str], list[CheckResult]] = {}
    for check in report.incomplete:
        by_reason.setdefault((check.status, one_line(check.reason)), []).append(check)
    return [_gap(status, reason, checks) for (status, reason), checks in by_reason.items()]


def _gap(status: Status, reason: str, checks: list[CheckResult]) -> str:
    worth = number(sum(check.points for check in checks))
    who = f"{counted(len(checks), 'check')} (points: {worth})"
    what = "met a fault of the grader" if status is Status.KIT_ERROR else "could not be run here"
    return f"{who} {what}: {reason or 'no reason was recorded'}"


def not_attempted(task: TaskResult) -> bool:
    """Whether nothing of the task was written: its checks say so, or wait for one that does."""
    return all(check.status is Status.NOT_ATTEMPTED or check.waits_for for check in task.checks) and any(
        check.status is Status.NOT_ATTEMPTED for check in task.checks
    )


def short_id(check_id: str) -> str:
    """`all_reduce.even` for `collectives.all_reduce.even`: what a student needs to recognise a check."""
    return check_id.partition(".")[2] or check_id


def next_step(report: Report) -> str:
    """What to do first: what is broken before what is not written, in the order of the assignment."""
    for check in report.checks:
        if check.status in BROKEN:
            command = one_line(check.failure.repeat) if check.failure else ""
            repeat = f", then run: {command}" if command else ""
            return f"next: fix {short_id(check.id)} ({check.number}){repeat}"
    for problem in report.problems:
        for task in problem.tasks:
            if not_attempted(task):
                return (
                    f"next: write {task.name} ({task.number}) in {problem.name}.py; "
                    f"read assignment/{problem.name}.md, section {task.name}"
                )
    if report.kit_errors:
        return "next: report the fault of the grader that is shown above; the submission has nothing to fix for it"
    if report.incomplete:
        return "next: run the checks that are left where they can be run; everything that ran here has passed"
    return "next: nothing is left to fix; every check that ran has passed"
