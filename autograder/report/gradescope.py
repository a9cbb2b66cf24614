"""The report as Gradescope's results.json.

There is a score exactly when the grading was one: after a fault of the grader neither the whole nor any test carries
a number, so that Gradescope has nothing to add up and the submission stays ungraded.
"""

from __future__ import annotations

import json
from typing import Any

from autograder.checks.finding import Status
from autograder.report import summary
from autograder.report.clean import cleaned, one_line, shorten
from autograder.report.failure import plain
from autograder.report.model import CheckResult, Report
from autograder.report.summary import WORDS, short_id

# Gradescope cuts at 100,000 characters; the failures share what the summary and the other lines leave.
_ALL_OUTPUT = 90_000
_SUMMARY = 10_000
_LINE = 200
_ONE_FAILURE = 6_000


def render(report: Report) -> str:
    """results.json as text."""
    return json.dumps(results(report), indent=1, allow_nan=False) + "\n"


def results(report: Report) -> dict[str, Any]:
    """results.json as plain dicts and lists."""
    report = cleaned(report)
    scored = not report.kit_errors
    share = _share(report)
    found: dict[str, Any] = {"score": _points(report.earned)} if scored else {}
    return found | {
        "execution_time": round(report.seconds, 1),
        "output": shorten(_summary(report), _SUMMARY),
        "output_format": "text",
        "test_output_format": "text",
        "tests": [_test(check, scored, share) for check in report.checks],
        "extra_data": _extra_data(report),
    }


def _share(report: Report) -> int:
    """How many characters each failure may take."""
    failures = [check for check in report.checks if check.failure]
    left = _ALL_OUTPUT - _SUMMARY - _LINE * len(report.checks)
    return max(0, min(_ONE_FAILURE, left // max(1, len(failures))))


def _test(check: CheckResult, scored: bool, share: int) -> dict[str, Any]:
    test: dict[str, Any] = {}
    # A check that could not be run is charged to nobody: without numbers it is shown and not counted.
    if scored and (check.status is not Status.NOT_RUN or check.waits_for):
        test |= {"score": _points(check.earned), "max_score": _points(check.points)}
        test |= {"status": "passed" if check.status is Status.PASSED else "failed"}
    return test | {
        "name": f"{short_id(check.id)}: {one_line(check.title)}",
        "number": check.number,
        "output": _output(check, share),
        "output_format": "text",
        "tags": check.id.split(".")[:2],
        "visibility": check.visibility,
        "extra_data": {
            "check": check.id,
            "status": check.status.value,
            **({"facts": check.facts} if check.facts else {}),
        },
    }


def _output(check: CheckResult, share: int) -> str:
    words = WORDS[check.status]
    if check.failure:
        return shorten(f"{words}\n\n{plain(check.failure)}", share)
    if check.waits_for:
        return shorten(f"{words}: it waits until {short_id(check.waits_for)} passes", _LINE)
    return shorten(f"{words}: {one_line(check.reason)}" if check.reason else words, _LINE)


def _summary(report: Report) -> str:
    """The text above all tests. It is shown to students, so a hidden check keeps the total out of it."""
    if report.kit_errors:
        lines = ["The grader itself failed: there is no score, and nobody is charged for it. Tell the course staff."]
    elif all(check.visibility == "visible" for check in report.checks):
        lines = [f"total: {summary.total(report)}", *summary.why_incomplete(report), summary.next_step(report)]
    else:
        lines = ["Some checks are not shown yet, and the total neither."]
    if report.setting.only:
        lines.append(f"Only a part was graded: {', '.join(report.setting.only)}.")
    return "\n".join([*lines, *(f"note: {note}" for note in report.notes)])


def _extra_data(report: Report) -> dict[str, Any]:
    setting = report.setting
    return {
        "seed": setting.seed,
        "backend": setting.backend,
        "budget": setting.budget,
        "isolation": setting.isolation,
        "only": list(setting.only),
        "versions": dict(setting.versions),
        "earned": _points(report.earned),
        "points": _points(report.points),
        "incomplete": [check.id for check in report.incomplete],
        "kit_errors": [{"check": check.id, "reason": shorten(check.reason, 1000)} for check in report.kit_errors],
    }


def _points(points: float) -> float:
    return round(points, 4)
