"""pytest as an adapter: the checks as items of pytest, for whoever wants its selection, its plugins or its reports.

    python -m pytest -p autograder.grading.pytest_plugin autograder/problems -k all_reduce --submission handout

Grading itself does without pytest. Every checks.py below autograder/problems is a file of tests here; a check that
fails shows its text as `grade` does, one that is not run is skipped.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from pathlib import Path

import pytest

from autograder.checks.check import Check
from autograder.checks.finding import Status
from autograder.grading.examiner import Examiner
from autograder.grading.registry import checks_of
from autograder.grading.session import Request, examination
from autograder.report.failure import plain
from autograder.report.model import CheckResult
from autograder.system.paths import ROOT

PROBLEMS = ROOT / "autograder" / "problems"
STACK, EXAMINER = pytest.StashKey[contextlib.ExitStack](), pytest.StashKey[Examiner]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options of `grade`."""
    group = parser.getgroup("grading")
    group.addoption("--submission", default="handout", help="the folder or zip to grade")
    group.addoption("--backend", default="gloo", choices=["gloo", "nccl"], help="how ranks communicate")
    group.addoption("--budget", default="local", help="how many examples: a name in assignment.toml")
    group.addoption("--isolate", action="store_true", help="run the submission in a sandbox (bubblewrap)")
    group.addoption("--grading-seed", type=int, default=0, help="seed of all examples")


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """A problem's checks.py is a file of checks."""
    if file_path.name == "checks.py" and file_path.parent.parent == PROBLEMS:
        return ChecksFile.from_parent(parent, path=file_path)
    return None


def pytest_sessionstart(session: pytest.Session) -> None:
    """Ranks are started by the first check."""
    session.config.stash[STACK] = contextlib.ExitStack()


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Ends the ranks."""
    session.config.stash[STACK].close()


class ChecksFile(pytest.File):
    """The checks of one problem."""

    def collect(self) -> Iterable[pytest.Item]:
        """One item per check, named by its id."""
        for check in checks_of(self.path.parent.name):
            yield CheckItem.from_parent(self, name=check.id, check=check)


class CheckItem(pytest.Item):
    """One check; all share an examiner."""

    def __init__(self, *, check: Check, **arguments: object) -> None:
        super().__init__(**arguments)  # type: ignore[arg-type]  # pytest's own, handed through
        self.check = check

    def runtest(self) -> None:
        """Examines the check and ends the item as the check ended."""
        result = _examiner(self.config).examine(self.check)
        if result.status is Status.NOT_RUN:
            pytest.skip(result.reason)
        if result.status is not Status.PASSED:
            pytest.fail(_words(result), pytrace=False)

    def reportinfo(self) -> tuple[Path, int, str]:
        """Where pytest says that the check stands."""
        return self.path, 0, self.name


def _words(result: CheckResult) -> str:
    attempted = result.failure is not None and result.status is not Status.NOT_ATTEMPTED
    return plain(result.failure) if attempted and result.failure else f"{result.status}: {result.reason}"


def _examiner(config: pytest.Config) -> Examiner:
    """The session's examiner, made by the first check that needs it."""
    if EXAMINER not in config.stash:
        request = Request(
            submission=config.getoption("submission"),
            backend=config.getoption("backend"),
            budget=config.getoption("budget"),
            seed=config.getoption("grading_seed"),
            isolate=config.getoption("isolate"),
        )
        config.stash[EXAMINER] = config.stash[STACK].enter_context(examination(request))
    return config.stash[EXAMINER]
