"""One grading, from a submission to its report."""

from __future__ import annotations

import contextlib
import platform
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import msgspec
import pytest
import torch

from autograder import assignment as assignments
from autograder.assignment import Assignment, PlannedCheck
from autograder.cluster import launch
from autograder.cluster.cluster import Cluster
from autograder.examiner import Examiner, Witness
from autograder.plugin import GradingPlugin
from autograder.report.model import CheckResult, ProblemResult, Report, Setting, Status, TaskResult
from autograder.side import Side
from autograder.submission import open_submission
from autograder.system.paths import ROOT

Tell = Callable[..., None]
REFERENCE = ROOT / "solutions"  # which students' releases do not have


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be graded, and how; the fields are the options of `grade`."""

    submission: str = "handout"
    only: tuple[str, ...] = ()
    backend: str = "gloo"
    budget: str = "local"
    seed: int = 0
    isolate: bool = False


def grade(
    request: Request,
    *,
    planned: Assignment | None = None,
    cluster: Cluster | None = None,
    references: Cluster | None = None,
    witness: dict[Any, Witness] | None = None,
    tell: Tell = lambda *_: None,
) -> Report:
    """Grades a submission and returns the report.

    `cluster` is one that is running already, `references` one for the reference where that one is isolated, and `witness`
    what the reference has shown so far; gradings in a row share them. `tell` hears "checking" with a check's id, and "done" with its result. Raises AssignmentError, SubmissionError,
    NoSandbox and KeyboardInterrupt; anything that a submission does is in the report.
    """
    start = time.monotonic()
    planned = planned or assignments.load()
    selected = assignments.select(planned, request.only)
    shared = {"cluster": cluster, "references": references, "witness": witness}
    with examination(request, planned=planned, tell=tell, **shared) as examiner:
        errors = _run(examiner, selected, planned)
        return _report(planned, selected, examiner, errors, time.monotonic() - start)


@contextlib.contextmanager
def examination(
    request: Request,
    *,
    planned: Assignment | None = None,
    cluster: Cluster | None = None,
    references: Cluster | None = None,
    witness: dict[Any, Witness] | None = None,
    tell: Tell = lambda *_: None,
) -> Iterator[Examiner]:
    """An examiner for the submission, with ranks to run it on, for as long as the context lasts."""
    planned = planned or assignments.load()
    if request.budget not in planned.budgets:
        raise assignments.AssignmentError(f"no budget {request.budget!r}: there are {', '.join(planned.budgets)}")
    torch.set_num_threads(1)  # the judges' tensors are so small that a second thread only costs
    with contextlib.ExitStack() as stack:
        cluster = cluster or stack.enter_context(
            Cluster(launch.start(planned.limits, request.isolate, request.backend))
        )
        if not cluster.isolated:
            references = cluster
        elif references is None:  # nothing of the reference is to be found where a submission runs
            references = stack.enter_context(Cluster(launch.Start(planned.limits)))
        place = cluster.home / "submissions"
        scratch = tempfile.TemporaryDirectory(prefix="submission-", dir=place, ignore_cleanup_errors=True)
        modules = [problem.name for problem in planned.problems]
        submission = open_submission(Path(request.submission), Path(stack.enter_context(scratch)), modules)
        stack.callback(cluster.release, submission.folder)
        yield Examiner(
            planned,
            _setting(request, cluster.start.tier),
            Side(planned, cluster, submission.folder),
            Side(planned, references, REFERENCE) if REFERENCE.is_dir() else None,
            witness,
            tell,
            notes=tuple(submission.notes),
        )


def _setting(request: Request, tier: str) -> Setting:
    return Setting(
        submission=request.submission,
        backend=request.backend,
        budget=request.budget,
        seed=request.seed,
        isolation=tier,
        only=request.only,
        versions={"python": platform.python_version(), "torch": version("torch"), "hypothesis": version("hypothesis")},
    )


def _run(examiner: Examiner, selected: Sequence[PlannedCheck], planned: Assignment) -> list[str]:
    """Runs the checks under pytest; returns what went wrong with the kit itself."""
    plugin = GradingPlugin(examiner, selected, planned)
    arguments = [
        str(ROOT / "autograder" / "checks"),
        *("-c", str(ROOT / "pyproject.toml"), "--rootdir", str(ROOT)),
        *("-p", "no:terminal", "-p", "no:cacheprovider", "-o", "timeout=0", "-o", "addopts="),
    ]
    code = pytest.main(arguments, plugins=[plugin])
    if plugin.interrupt is not None:
        raise KeyboardInterrupt(*plugin.interrupt.args)
    if code not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED) and not plugin.errors:
        plugin.errors.append(f"the checks did not run: pytest ended with {code!s}")
    return plugin.errors


def _report(
    planned: Assignment, selected: Sequence[PlannedCheck], examiner: Examiner, errors: list[str], seconds: float
) -> Report:
    chosen = {check.id: check for check in selected}
    problems = []
    for p, problem in enumerate(planned.problems, 1):
        tasks = []
        for t, task in enumerate(problem.tasks, 1):
            ids = [id for id in (f"{problem.name}.{task.name}.{check}" for check in task.checks) if id in chosen]
            checks = tuple(examiner.results.get(id) or _without_end(chosen[id], errors) for id in ids)
            if checks:
                tasks.append(TaskResult(name=task.name, number=f"{p}.{t}", title=task.name, checks=checks))
        if tasks:
            problems.append(
                ProblemResult(
                    name=problem.name,
                    number=str(p),
                    title=problem.title,
                    tasks=tuple(tasks),
                    extra_credit=problem.extra_credit,
                )
            )
    return Report(
        title=planned.title,
        setting=examiner.setting,
        problems=tuple(problems),
        notes=(*examiner.notes, *errors),
        seconds=seconds,
    )


def _without_end(planned: PlannedCheck, errors: list[str]) -> CheckResult:
    """A check that has no result is a fault of the kit: nobody earns it, nobody is charged for it."""
    return CheckResult(
        id=planned.id,
        number=planned.number,
        title=planned.name,
        points=planned.points,
        status=Status.KIT_ERROR,
        reason=errors[0] if errors else "the check came to no end",
        visibility=planned.visibility,
    )
