"""What the kit's tests share: one warm cluster, and submissions made of the reference and a few lines that replace it."""

from __future__ import annotations

import ast
import shutil
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from autograder.cluster import launch
from autograder.cluster.cluster import Cluster
from autograder.grading import assignment as assignments
from autograder.grading.assignment import Assignment
from autograder.grading.reference import ReferenceResults
from autograder.grading.session import Request, grade
from autograder.report.model import Report

TESTS = Path(__file__).parent
collect_ignore = ["attacks"]  # conftest.py among them, and worse
SOLUTIONS = TESTS.parent / "solutions"


class Variant(msgspec.Struct, frozen=True, kw_only=True):
    """What a file in tests/mistakes or tests/unusual says of itself, in the TOML of its docstring.

    `thorough`: an unusual one that is much like others, and is left to thorough runs.
    """

    loses: tuple[str, ...] = ()
    says: tuple[str, ...] = ()
    may_lose: tuple[str, ...] = ()
    mistake: int | None = None
    thorough: bool = False


def variants(folder: str, problem: str) -> list[Any]:
    """The files of a problem, as pytest parameters."""
    return [pytest.param(path, id=path.stem) for path in sorted((TESTS / folder / problem).glob("*.py"))]


def described(path: Path) -> Variant:
    """The docstring's TOML; the file is read, never imported."""
    text = ast.get_docstring(ast.parse(path.read_text())) or ""
    return msgspec.convert(tomllib.loads(text.partition("\n\n")[2]), Variant)


def within(check: str, id: str) -> bool:
    """Whether an id is the check's, or that of its task or problem."""
    return check == id or check.startswith(f"{id}.")


def source_of(path: Path, problem: str) -> str:
    """The reference's module, with the file's definitions after it, so that they replace its own."""
    return f"{(SOLUTIONS / f'{problem}.py').read_text()}\n\n{path.read_text()}"


def submission_of(path: Path, problem: str, folder: Path) -> Path:
    """A submission in `folder`: the reference, with the file's definitions in it."""
    for module in SOLUTIONS.glob("*.py"):
        shutil.copy(module, folder)
    (folder / f"{problem}.py").write_text(source_of(path, problem))
    return folder


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
