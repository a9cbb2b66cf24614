"""One grading, from a submission to its report."""

from __future__ import annotations

import contextlib
import platform
import tempfile
import time
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from pathlib import Path

import msgspec
import torch

from autograder.cluster import launch
from autograder.cluster.cluster import Cluster
from autograder.grading import assignment as assignments
from autograder.grading.assignment import Assignment, PlannedCheck
from autograder.grading.examiner import Examiner, Progress
from autograder.grading.reference import Reference, ReferenceResults
from autograder.grading.registry import load_checks
from autograder.grading.runner import Runner
from autograder.grading.submission import open_submission
from autograder.report.model import ProblemResult, Report, Setting, TaskResult
from autograder.system.paths import ROOT

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
    reference_results: ReferenceResults | None = None,
    progress: Progress | None = None,
) -> Report:
    """Grades a submission and returns the report.

    `cluster` is one that is running already, `references` one for the reference where that one is isolated, and
    `reference_results` what the reference has shown so far; gradings in a row share them. Raises AssignmentError,
    SubmissionError, NoSandbox and KeyboardInterrupt; anything that a submission does is in the report.
    """
    start = time.monotonic()
    planned = planned or assignments.load()
    selected = assignments.select(planned, request.only)
    checks = load_checks(planned)
    with examination(
        request,
        planned=planned,
        cluster=cluster,
        references=references,
        reference_results=reference_results,
        progress=progress,
    ) as examiner:
        for check in selected:  # task by task, so that a base check comes before those that wait for it
            examiner.examine(checks[check.id])
        return _report(planned, selected, examiner, time.monotonic() - start)


@contextlib.contextmanager
def examination(
    request: Request,
    *,
    planned: Assignment | None = None,
    cluster: Cluster | None = None,
    references: Cluster | None = None,
    reference_results: ReferenceResults | None = None,
    progress: Progress | None = None,
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
            Runner(planned, cluster, submission.folder),
            Reference(Runner(planned, references, REFERENCE), reference_results) if REFERENCE.is_dir() else None,
            progress,
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


def _report(planned: Assignment, selected: Sequence[PlannedCheck], examiner: Examiner, seconds: float) -> Report:
    chosen = {check.id for check in selected}
    problems = []
    for p, problem in enumerate(planned.problems, 1):
        tasks = []
        for t, task in enumerate(problem.tasks, 1):
            ids = [id for id in (f"{problem.name}.{task.name}.{check}" for check in task.checks) if id in chosen]
            checks = tuple(examiner.results[id] for id in ids)
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
        notes=examiner.notes,
        seconds=seconds,
    )
