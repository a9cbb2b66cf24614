"""Runs the examples of a check on one package, the submission or the reference, and judges what comes back."""

from __future__ import annotations

from pathlib import Path

import msgspec

from autograder.checks.check import Check
from autograder.checks.example import Example
from autograder.checks.finding import Finding, Mismatch, Status
from autograder.checks.replies import Unreadable
from autograder.cluster.cluster import Cluster
from autograder.cluster.outcome import End, Outcome
from autograder.diagnosis.diagnose import diagnose
from autograder.diagnosis.forbidden_operation import forbidden_operation
from autograder.grading.assignment import Assignment


class Runner:
    """A package's folder and the ranks that it runs on."""

    def __init__(self, assignment: Assignment, cluster: Cluster, folder: Path) -> None:
        self._assignment, self._cluster, self._folder = assignment, cluster, folder

    def run(
        self, backend: str, check: Check, example: Example, zeroed_payloads: bool = False
    ) -> tuple[Outcome, Finding | None]:
        """What came of an example, and what is wrong with that; `zeroed_payloads` (simulated only): of all messages.

        Where the judge itself fails, that is a KIT_ERROR: what the reference hands back shows whose fault it is.
        """
        call = example.call()
        problem = self._assignment.problem(check.problem)
        requests = call.requests(check.problem, problem.allowed, problem.refused)
        group = self._cluster.group(self._folder, backend, example.world_size)
        config = msgspec.structs.replace(call.config, zeroed_payloads=zeroed_payloads)
        outcome = group.call(requests, call.tensors, config)
        return outcome, self._judged(check, example, outcome)

    def _judged(self, check: Check, example: Example, outcome: Outcome) -> Finding | None:
        allowed = self._assignment.problem(check.problem).allowed
        finding = forbidden_operation(outcome, allowed) or diagnose(outcome, check.id.split(".")[1])
        if finding is not None:
            return finding
        try:
            mismatch = check.judge(example, outcome)
        except Unreadable as words:
            mismatch = Mismatch(headline=str(words))
        except Exception as error:  # a mistake of the judge's, or something that no right function hands back
            fault = f"{type(error).__name__}: {error}"
            headline = f"the grader has no judgement on what came back ({fault})"
            return Finding(Status.KIT_ERROR, Mismatch(headline=headline))
        return None if mismatch is None else Finding(Status.FAILED, mismatch)


def only_slow(outcome: Outcome, finding: Finding | None) -> bool:
    """Whether an example failed by a clock that other work on the machine can hold up; processor time is its own."""
    stuck = any(rank.end is End.STUCK for rank in outcome.ranks) and all(r.end is not End.BUSY for r in outcome.ranks)
    return stuck and finding is not None and finding.status is Status.TIMEOUT
