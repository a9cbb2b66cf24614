"""The record of one check, on which its credit rests."""

from __future__ import annotations

from autograder.checks.check import Check
from autograder.checks.finding import Status
from autograder.grading.assignment import PlannedCheck
from autograder.report.model import CheckResult, Failure


class Record:
    """What one check has shown so far. It passes only by `passed` at every planned world size."""

    def __init__(self, planned: PlannedCheck, check: Check) -> None:
        self._planned, self._check = planned, check
        self._examples: dict[int, int] = {}
        self._facts: dict[str, str] = {}
        self._status: Status | None = None
        self._reason = self._waits_for = ""
        self._failure: Failure | None = None

    def passed(self, world_size: int, count: int) -> None:
        """`count` examples passed at this world size."""
        self._examples[world_size] = count

    def add_facts(self, facts: dict[str, str]) -> None:
        """Figures to be shown with the result."""
        self._facts |= facts

    def settle(self, status: Status, reason: str, waits_for: str = "", failure: Failure | None = None) -> None:
        """The check has ended otherwise than by passing."""
        self._status, self._reason, self._waits_for, self._failure = status, reason, waits_for, failure

    def result(self, seconds: float) -> CheckResult:
        """The check's end; without a full record it is a fault of the kit, never a pass."""
        if self._status is None:
            complete = all(self._examples.get(world_size) for world_size in self._planned.world_sizes)
            self._status = Status.PASSED if complete else Status.KIT_ERROR
            self._reason = "" if complete else "no example was run at a planned world size"
        return CheckResult(
            id=self._planned.id,
            number=self._planned.number,
            title=self._check.title,
            points=self._planned.points,
            visibility=self._planned.visibility,
            examples=self._examples,
            facts=self._facts,
            seconds=seconds,
            status=self._status,
            reason=self._reason,
            waits_for=self._waits_for,
            failure=self._failure,
        )
