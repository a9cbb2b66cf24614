"""The report as CSV, one row a check."""

from __future__ import annotations

import csv
import io

from autograder.report.clean import cleaned, one_line, shorten
from autograder.report.model import CheckResult, Report
from autograder.report.summary import number

COLUMNS = ("submission", "number", "check", "title", "status", "earned", "points", "seconds", "reason")

# A cell that begins with one of these is a formula to a spreadsheet, the full-width forms to some of them too.
_FORMULA = tuple("=+-@＝＋－＠")


def render(report: Report) -> str:
    """The table as text, a header first. `earned` is empty where a check could not be run."""
    report = cleaned(report)
    gaps = {check.id for check in report.incomplete}
    out = io.StringIO()
    table = csv.writer(out, lineterminator="\n")
    table.writerow(COLUMNS)
    table.writerows(_row(report.setting.submission, check, check.id in gaps) for check in report.checks)
    return out.getvalue()


def _row(submission: str, check: CheckResult, gap: bool) -> list[str]:
    reason = check.failure.headline if check.failure else check.reason
    texts = [submission, check.number, check.id, check.title, check.status.value]
    numbers = ["" if gap else number(check.earned), number(check.points), f"{check.seconds:.3f}"]
    return [*map(text_cell, texts), *numbers, text_cell(shorten(reason, 500))]


def text_cell(text: str) -> str:
    """The text on one line, with an apostrophe before it where a spreadsheet would take it for a formula."""
    text = one_line(text)
    return f"'{text}" if text.startswith(_FORMULA) else text
