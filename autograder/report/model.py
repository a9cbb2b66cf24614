"""What a grading found: the one model that every report is a rendering of.

Nothing here knows how it is shown, and nothing here touches a process, a tensor or a file.
"""

from __future__ import annotations

import msgspec

from autograder.checks.finding import RankView, Status


class Failure(msgspec.Struct, frozen=True, kw_only=True):
    """Why a check failed, for the student who has to fix it.

    `headline` is one sentence; `call` the call as a student would write it; `setting` the world size, backend and so
    on; `ranks` one row per rank; `where` lines of the student's own code (`collectives.py:41, in all_reduce:
    dist.recv(...)`); `hints` sentences that lead to the cause; `output` the tail of what the submission printed;
    `repeat` the command that runs just this again; `read` the chapter and section.
    """

    headline: str
    call: str = ""
    setting: str = ""
    ranks: tuple[RankView, ...] = ()
    where: tuple[str, ...] = ()
    hints: tuple[str, ...] = ()
    output: str = ""
    repeat: str = ""
    read: str = ""


class CheckResult(msgspec.Struct, frozen=True, kw_only=True):
    """One check.

    `id` is `problem.task.check`, `number` is like "1.7.2", `reason` one line for anything not passed; `waits_for` is
    the base check that held this one back; `examples` counts those that passed, by world size; `facts` are figures to
    show.
    """

    id: str
    number: str
    title: str
    points: float
    status: Status
    reason: str = ""
    failure: Failure | None = None
    waits_for: str = ""
    examples: dict[int, int] = {}
    facts: dict[str, str] = {}
    seconds: float = 0.0
    visibility: str = "visible"

    @property
    def earned(self) -> float:
        """Points earned: all of them or none."""
        return self.points if self.status is Status.PASSED else 0.0


class TaskResult(msgspec.Struct, frozen=True, kw_only=True):
    """One task: a function or class that a student writes, and its checks."""

    name: str
    number: str
    title: str
    checks: tuple[CheckResult, ...]

    @property
    def points(self) -> float:
        return sum(check.points for check in self.checks)

    @property
    def earned(self) -> float:
        return sum(check.earned for check in self.checks)


class ProblemResult(msgspec.Struct, frozen=True, kw_only=True):
    """One problem: a module of the handout, and its tasks."""

    name: str
    number: str
    title: str
    tasks: tuple[TaskResult, ...]
    extra_credit: bool = False

    @property
    def points(self) -> float:
        return sum(task.points for task in self.tasks)

    @property
    def earned(self) -> float:
        return sum(task.earned for task in self.tasks)


class Setting(msgspec.Struct, frozen=True, kw_only=True):
    """What a grading was run with; with the same setting and submission, the same report comes out."""

    submission: str
    backend: str = "gloo"
    budget: str = "local"
    seed: int = 0
    isolation: str = "not isolated"
    only: tuple[str, ...] = ()
    versions: dict[str, str] = {}


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """A whole grading. `notes` are sentences for the reader, such as what was left out and why."""

    title: str
    setting: Setting
    problems: tuple[ProblemResult, ...]
    notes: tuple[str, ...] = ()
    seconds: float = 0.0

    @property
    def checks(self) -> list[CheckResult]:
        """Every check, in the order of the assignment."""
        return [check for problem in self.problems for task in problem.tasks for check in task.checks]

    @property
    def points(self) -> float:
        """What could be earned in this grading, extra credit apart."""
        return sum(problem.points for problem in self.problems if not problem.extra_credit)

    @property
    def earned(self) -> float:
        """What was earned, extra credit included."""
        return sum(problem.earned for problem in self.problems)

    @property
    def kit_errors(self) -> list[CheckResult]:
        return [check for check in self.checks if check.status is Status.KIT_ERROR]

    @property
    def incomplete(self) -> list[CheckResult]:
        """Checks that could not be run here (too few GPUs, a fault of the kit): the total does not speak for them.

        A check held back by the base check of its task is an ordinary zero, not a gap.
        """
        gaps = (Status.NOT_RUN, Status.KIT_ERROR)
        return [check for check in self.checks if check.status in gaps and not check.waits_for]
