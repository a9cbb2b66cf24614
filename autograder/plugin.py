"""The pytest side of grading: which checks are run, with which examiner, and how pytest words their ends."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from autograder.assignment import Assignment, PlannedCheck
from autograder.checks.example import Claim
from autograder.examiner import Examiner
from autograder.report.failure import plain
from autograder.report.model import CheckResult, Status

EXAMINER = pytest.StashKey[Examiner]()


def add_options(parser: pytest.Parser) -> None:
    """The options of `grade`, for running the checks by pytest itself."""
    group = parser.getgroup("grading")
    group.addoption("--submission", default="handout", help="the folder or zip to grade")
    group.addoption("--backend", default="gloo", choices=["gloo", "nccl"], help="how ranks communicate")
    group.addoption("--budget", default="local", help="how many examples: a name in assignment.toml")
    group.addoption("--isolate", action="store_true", help="run the submission in a sandbox (bubblewrap)")
    group.addoption("--grading-seed", type=int, default=0, help="seed of all examples")


@contextlib.contextmanager
def examiner_for(config: pytest.Config) -> Iterator[Reporting]:
    """The examiner of the grading that runs this pytest, or one for the options that pytest was given."""
    if EXAMINER in config.stash:
        yield Reporting(config.stash[EXAMINER])
        return
    from autograder.grading import Request, examination

    request = Request(
        submission=config.getoption("submission"),
        backend=config.getoption("backend"),
        budget=config.getoption("budget"),
        seed=config.getoption("grading_seed"),
        isolate=config.getoption("isolate"),
    )
    with examination(request) as examiner:
        yield Reporting(examiner)


class Reporting:
    """Examines a check and ends the pytest item as the check ended: the text is ours, without a traceback."""

    def __init__(self, examiner: Examiner) -> None:
        self._examiner = examiner

    def examine(self, claim: Claim) -> None:
        result = self._examiner.examine(claim)
        if result.status is Status.PASSED:
            return
        if result.status is Status.NOT_RUN:
            pytest.skip(result.reason)
        pytest.fail(self._words(result), pytrace=False)

    def _words(self, result: CheckResult) -> str:
        told = result.failure is not None and result.status is not Status.NOT_ATTEMPTED
        return plain(result.failure) if told else f"{result.status}: {result.reason}"


class GradingPlugin:
    """Runs the selected checks of an assignment with one examiner."""

    def __init__(self, examiner: Examiner, selected: Sequence[PlannedCheck], planned: Assignment) -> None:
        self._examiner = examiner
        self._selected = [check.id for check in selected]
        self._planned = {check.id for check in planned.plan()}
        self.errors: list[str] = []
        self.interrupt: BaseException | None = None

    def pytest_configure(self, config: pytest.Config) -> None:
        config.stash[EXAMINER] = self._examiner

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Every check in assignment.toml needs a claim and every claim a check; only the selected ones are run."""
        claims = {item.callspec.params["claim"].id: item for item in items if hasattr(item, "callspec")}
        strangers = sorted(claims.keys() ^ self._planned)
        if strangers:
            self.errors.append(
                f"assignment.toml and the checks disagree about {', '.join(strangers)}: each needs points and a claim"
            )
            items[:] = []
            return
        # task by task as in the assignment, so that a base check comes before those that wait for it
        items[:] = [claims[id] for id in self._selected]

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.errors.append(f"{report.nodeid} cannot be read: {report.longreprtext.strip().splitlines()[-1]}")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed and report.when == "setup":
            self.errors.append(report.longreprtext.strip().splitlines()[-1])

    def pytest_keyboard_interrupt(self, excinfo: Any) -> None:
        # pytest ends a collection with errors in the same way; those are in `errors` already
        if not isinstance(excinfo.value, pytest.Session.Interrupted):
            self.interrupt = excinfo.value
