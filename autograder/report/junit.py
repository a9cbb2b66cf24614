"""The report as JUnit XML, for continuous integration: a suite a problem, a case a check."""

from __future__ import annotations

import xml.etree.ElementTree as ET

from autograder.checks.finding import Status
from autograder.report.clean import cleaned, one_line, shorten
from autograder.report.failure import plain
from autograder.report.model import CheckResult, ProblemResult, Report
from autograder.report.summary import WORDS, short_id

_ELEMENTS = {
    Status.FAILED: "failure",
    Status.TIMEOUT: "failure",
    Status.CRASHED: "failure",
    Status.NOT_ATTEMPTED: "skipped",
    Status.NOT_RUN: "skipped",
    Status.KIT_ERROR: "error",
}


def render(report: Report) -> str:
    """The whole document as text."""
    report = cleaned(report)
    root = ET.Element("testsuites", {"name": report.title, "time": f"{report.seconds:.3f}", **_counts(report.checks)})
    for problem in report.problems:
        root.append(_suite(problem))
    ET.indent(root)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{ET.tostring(root, encoding="unicode")}\n'


def _counts(checks: list[CheckResult]) -> dict[str, str]:
    kinds = [_ELEMENTS.get(check.status) for check in checks]
    return {
        "tests": str(len(checks)),
        "failures": str(kinds.count("failure")),
        "errors": str(kinds.count("error")),
        "skipped": str(kinds.count("skipped")),
    }


def _suite(problem: ProblemResult) -> ET.Element:
    checks = [check for task in problem.tasks for check in task.checks]
    seconds = sum(check.seconds for check in checks)
    suite = ET.Element("testsuite", {"name": problem.name, "time": f"{seconds:.3f}", **_counts(checks)})
    suite.extend(map(_case, checks))
    return suite


def _case(check: CheckResult) -> ET.Element:
    task, _, name = check.id.rpartition(".")
    case = ET.Element("testcase", classname=task, name=name, time=f"{check.seconds:.3f}")
    if check.status in _ELEMENTS:
        end = ET.SubElement(case, _ELEMENTS[check.status], message=shorten(_message(check), 500))
        if check.status not in (Status.NOT_ATTEMPTED, Status.NOT_RUN):
            end.set("type", check.status.value)
        end.text = plain(check.failure) if check.failure else None
    return case


def _message(check: CheckResult) -> str:
    if check.failure:
        return one_line(check.failure.headline)
    if check.waits_for:
        return f"not run until {short_id(check.waits_for)} passes"
    return one_line(check.reason) or WORDS[check.status]
