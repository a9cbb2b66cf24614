"""What the kit's tests share: a warm cluster, and submissions made of the reference and a few lines that replace it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from autograder.cluster import launch
from autograder.cluster.cluster import Cluster
from autograder.grading import assignment as assignments
from autograder.grading.assignment import Assignment
from autograder.grading.reference import ReferenceResults
from autograder.grading.session import Request, grade
from autograder.report.model import Report

collect_ignore_glob = [
    "attacks/*",
    "problems/*/mistakes/*",
    "problems/*/unusual/*",
]  # a conftest.py among them, and worse


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    """Ranks for every grading of this run."""
    with Cluster(launch.Start(assignments.load().limits)) as cluster:
        yield cluster


@pytest.fixture(scope="session")
def reference_results() -> ReferenceResults:
    """What the reference has shown: it is the same for every submission."""
    return {}


@pytest.fixture
def graded(cluster: Cluster, reference_results: ReferenceResults) -> Callable[..., Report]:
    """Grades a folder on the shared ranks, by the assignment or by the one given."""

    def graded(folder: Path, *only: str, planned: Assignment | None = None, **options: Any) -> Report:
        request = Request(submission=str(folder), only=only, **options)
        return grade(request, planned=planned, cluster=cluster, reference_results=reference_results)

    return graded
