"""Lets `python -m pytest autograder/checks -k all_reduce` grade a submission, with the options that `grade` has."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from autograder import plugin

collect_ignore_glob = ["examples/*", "judges/*", "meaning/*"]


def pytest_addoption(parser: pytest.Parser) -> None:
    plugin.add_options(parser)


@pytest.fixture(scope="session")
def examiner(pytestconfig: pytest.Config) -> Iterator[plugin.Reporting]:
    """What the checks are examined by: the grading's own, or one made from the command line."""
    with plugin.examiner_for(pytestconfig) as examiner:
        yield examiner
