"""Examines one check: draws its planned examples, runs them on the ranks, and keeps the record that credit rests on."""

from __future__ import annotations

import hashlib
import itertools
import math
import time
from collections import Counter
from collections.abc import Sequence
from typing import Any, Protocol

import hypothesis
import torch
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.strategies import SearchStrategy

from autograder.checks.check import Check
from autograder.checks.example import Example
from autograder.checks.finding import Finding, Mismatch, Status
from autograder.cluster.group import GroupFailed
from autograder.cluster.outcome import Outcome
from autograder.grading.assignment import Assignment, PlannedCheck
from autograder.grading.coverage import shares
from autograder.grading.failure import failure_of, with_reference
from autograder.grading.record import Record
from autograder.grading.reference import Reference
from autograder.grading.runner import Runner, only_slow
from autograder.grading.shrinking import CheckFailed, GraderError, Search, cost_of
from autograder.report.model import CheckResult, Failure, Setting

# Of a check at one world size, so many examples are tried with zeroed payloads until one tells something.
ZEROED_TRIES = 3
NEEDS_NO_MESSAGES = (
    "the results are right although every message's payload was zeroed on its way: what one rank knows of another has "
    "to arrive in a message"
)


class Progress(Protocol):
    """Hears of a grading as it goes."""

    def checking(self, check: str, world_size: int) -> None:
        """A check has come to a world size."""

    def done(self, result: CheckResult) -> None:
        """A check has ended."""


class Silence:
    """Progress that nobody is told of."""

    def checking(self, check: str, world_size: int) -> None:
        """Nothing is said."""

    def done(self, result: CheckResult) -> None:
        """Nothing is said."""


class Examiner:
    """Examines the checks of one grading, in order, each against its plan in assignment.toml.

    `reference` are the reference solutions, where there are any; `progress` is told as the grading goes.
    """

    def __init__(
        self,
        assignment: Assignment,
        setting: Setting,
        submission: Runner,
        reference: Reference | None,
        progress: Progress | None = None,
        notes: Sequence[str] = (),
    ) -> None:
        self._assignment, self.setting = assignment, setting
        self._submission, self._reference = submission, reference
        self._progress: Progress = progress or Silence()
        self.notes = tuple(notes)
        self._budget = assignment.budgets[setting.budget]
        self._plan = {check.id: check for check in assignment.plan()}
        self.results: dict[str, CheckResult] = {}
        self._zeroed: Counter[tuple[str, int]] = Counter()  # examples tried with zeroed payloads
        self._slow: set[str] = set()  # checks in which an example has been repeated because it took too long
        self._end = time.monotonic() + assignment.limits.submission_seconds

    def examine(self, check: Check) -> CheckResult:
        """Runs one check to its end; never raises for anything that a submission does."""
        planned = self._plan[check.id]
        start = time.monotonic()
        self._check_end = start + self._assignment.limits.check_seconds
        record = Record(planned, check)
        held_back = self._held_back(planned)
        if held_back is not None:
            record.settle(*held_back)
        else:
            self._run(check, planned, record)
        self.results[check.id] = result = record.result(time.monotonic() - start)
        self._progress.done(result)
        return result

    def _held_back(self, planned: PlannedCheck) -> tuple[Status, str, str] | None:
        """Why this check is not run: time is up, or the base check of its task has not passed."""
        if time.monotonic() > self._end:
            minutes = self._assignment.limits.submission_seconds / 60
            return Status.TIMEOUT, f"not run: the submission had used up its {minutes:g} minutes by then", ""
        base = self.results.get(planned.base)
        if base is None or base.id == planned.id or base.status in (Status.PASSED, Status.KIT_ERROR, Status.NOT_RUN):
            return None
        if base.status is Status.NOT_ATTEMPTED:
            return Status.NOT_ATTEMPTED, base.reason, base.id
        return Status.NOT_RUN, f"not run until {planned.task}.{planned.base.rpartition('.')[2]} passes", base.id

    def _run(self, check: Check, planned: PlannedCheck, record: Record) -> None:
        gpus = self._missing_gpus(check, planned)
        if gpus:
            record.settle(Status.NOT_RUN, gpus)
            return
        try:
            for world_size in planned.world_sizes:
                self._progress.checking(check.id, world_size)
                self._explore(check, planned, world_size, record)
        except CheckFailed as failed:
            record.settle(failed.status, failed.failure.headline, failure=failed.failure)
        except (GraderError, GroupFailed) as error:
            record.settle(Status.KIT_ERROR, str(error))
        except Exception as error:
            record.settle(Status.KIT_ERROR, f"{type(error).__name__} in the grader: {error}")

    def _missing_gpus(self, check: Check, planned: PlannedCheck) -> str:
        """Why this check cannot be run on this machine's GPUs, one rank a GPU; "" if it can."""
        if self.setting.backend != "nccl" or "real" not in check.backends:
            return ""
        there, needed = torch.cuda.device_count(), max(planned.world_sizes)
        return f"needs {needed} GPUs, one a rank; there are {there}" if there < needed else ""

    def _explore(self, check: Check, planned: PlannedCheck, world_size: int, record: Record) -> None:
        """Draws a world size's share of examples of every kind; raises CheckFailed with the smallest that fails."""
        run = itertools.count()
        search = Search(lambda example: self._try(check, example, next(run), record), check.weight, self._budget.shrink)
        count = planned.examples or self._budget.examples
        strategies = check.strategies(world_size)
        order = _seed(self.setting.seed, check.id)
        for kind, many in shares(len(strategies), count, world_size, planned.world_sizes, order).items():
            seed = _seed(self.setting.seed, check.id, world_size, kind)
            self._draw(search, strategies[kind], many, len(strategies) > 1, seed)
        record.passed(world_size, search.passed)

    def _draw(self, search: Search, strategy: SearchStrategy[Any], count: int, skips_first: bool, seed: int) -> None:
        """Draws `count` examples. The first is always the simplest one, which shows little; many kinds skip theirs."""
        calls = itertools.count()

        @hypothesis.seed(seed)
        @settings(
            max_examples=count + skips_first,
            deadline=None,
            database=None,
            phases=(Phase.generate, Phase.shrink) if self._budget.shrink else (Phase.generate,),
            suppress_health_check=list(HealthCheck),
            report_multiple_bugs=False,
            print_blob=False,
        )
        @given(strategy)
        def explore(example: Example) -> None:
            if next(calls) or not skips_first:
                search.follow(example)

        try:
            explore()
        except CheckFailed:
            raise search.smallest from None

    def _try(self, check: Check, example: Example, number: int, record: Record) -> None:
        """Runs one example on each of the check's backends; raises CheckFailed or GraderError.

        The simulated cluster comes first: it sees more, and what it sees costs no patience. Of the examples that it has
        passed, every so many are run on the real backend as well.
        """
        if time.monotonic() > self._check_end:
            minutes = self._assignment.limits.check_seconds / 60
            headline = f"the check had not come to its end after {minutes:g} minutes"
            raise CheckFailed(Status.TIMEOUT, Failure(headline=headline), math.inf)
        if "sim" in check.backends:
            self._try_on("sim", check, example, record)
            if check.needs_messages:
                self._try_zeroed(check, example)
        every = self._budget.real_every if "sim" in check.backends else 1
        if "real" in check.backends and number % every == 0:
            self._try_on(self.setting.backend, check, example, record)

    def _try_on(self, backend: str, check: Check, example: Example, record: Record) -> None:
        """Runs one example on the submission, and on the reference before a submission is charged with anything.

        A submission that passes is itself a second witness to the expected values, so that the reference is asked about
        those examples only where the budget says so.
        """
        outcome, finding = self._submission.run(backend, check, example)
        if only_slow(outcome, finding) and check.id not in self._slow:
            # It may have had a bad moment: it counts if it takes too long again, in new ranks.
            self._slow.add(check.id)
            outcome, finding = self._submission.run(backend, check, example)
        if finding is None and backend != "sim":
            finding = self._compared(backend, check, example, outcome, record)
        spent: dict[int, str] = {}
        if self._reference is not None and (finding is not None or self._budget.reference == "always"):
            spent = self._reference.result(backend, check, example).spent
        if finding is not None:
            status = finding.status
            if status is Status.KIT_ERROR:
                if self._reference is None:
                    raise GraderError(finding.mismatch.headline)
                status = Status.FAILED  # the judge does not fail on what the reference hands back
            failure = failure_of(self.setting, backend, check, example, outcome, finding.mismatch)
            raise CheckFailed(status, with_reference(failure, spent), cost_of(outcome))

    def _try_zeroed(self, check: Check, example: Example) -> None:
        """Runs a passed example again with every payload zeroed on its way: who is right then needs no messages.

        That is a fault only if the reference is wrong then: else the example tells nothing, and the next one is tried.
        """
        key = check.id, example.world_size
        if self._reference is None or example.world_size == 1 or self._zeroed[key] == ZEROED_TRIES:
            return
        self._zeroed[key] += 1
        outcome, finding = self._submission.run("sim", check, example, zeroed_payloads=True)
        if finding is not None:
            self._zeroed[key] = ZEROED_TRIES
        elif self._reference.needs_messages(check, example):
            mismatch = Mismatch(headline=NEEDS_NO_MESSAGES)
            failure = failure_of(self.setting, "sim", check, example, outcome, mismatch)
            raise CheckFailed(Status.FAILED, failure, math.inf)

    def _compared(
        self, backend: str, check: Check, example: Example, outcome: Outcome, record: Record
    ) -> Finding | None:
        """A passed example beside the reference's, run right after it; both came to the same, but for their figures."""
        if check.compare is None or self._reference is None:
            return None
        other = self._reference.beside(backend, check, example)
        if other is None:
            return None  # the reference's own trouble is the second witness's to tell
        facts, mismatch = check.compare(example, outcome, other)
        record.add_facts(facts)
        return None if mismatch is None else Finding(Status.FAILED, mismatch)


def _seed(seed: int, *of: Any) -> int:
    """Another one for every check, world size and kind: with one for all, they would draw the same examples."""
    return int.from_bytes(hashlib.sha256(" ".join(map(str, (seed, *of))).encode()).digest()[:8])
