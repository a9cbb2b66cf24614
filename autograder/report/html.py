"""The report as one web page that needs nothing else; its layout is page.html."""

from __future__ import annotations

from pathlib import Path

import jinja2

from autograder.report import failure, summary
from autograder.report.clean import cleaned
from autograder.report.model import Report

_PAGE = Path(__file__).with_name("page.html")


def render(report: Report) -> str:
    """The page as text."""
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    page = environment.from_string(_PAGE.read_text(encoding="utf-8"))
    return page.render(report=cleaned(report), summary=summary, failure=failure, words=summary.WORDS)
