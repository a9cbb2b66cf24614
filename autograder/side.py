"""One side of a grading, the submission's or the reference's: a package, and the ranks that run examples on it."""

from __future__ import annotations

from pathlib import Path

import msgspec

from autograder.assignment import Assignment
from autograder.checks.example import Claim, Example, Mismatch
from autograder.checks.explain import explain, trespass
from autograder.checks.said import Unreadable
from autograder.cluster.cluster import Cluster
from autograder.cluster.outcome import Outcome
from autograder.protocol.request import Request
from autograder.report.model import Status

Told = tuple[Status, Mismatch]


class Side:
    """A package's folder and the ranks that it runs on."""

    def __init__(self, assignment: Assignment, cluster: Cluster, folder: Path) -> None:
        self._assignment, self._cluster, self._folder = assignment, cluster, folder

    def run(self, backend: str, claim: Claim, example: Example, emptied: bool = False) -> tuple[Outcome, Told | None]:
        """What came of an example, and what is wrong with that; with `emptied` messages (simulated only), too.

        Where the judge itself fails, that is told as KIT_ERROR: what the reference hands back shows whose fault it is.
        """
        call = example.call()
        problem = self._assignment.problem(claim.problem)
        requests = [
            Request(claim.problem, call.driver, arguments, problem.allowed, problem.refused)
            for arguments in call.arguments
        ]
        group = self._cluster.group(self._folder, backend, example.world_size)
        network = msgspec.structs.replace(call.network, emptied=emptied)
        outcome = group.call(requests, call.tensors, network)
        return outcome, self._judged(claim, example, outcome)

    def _judged(self, claim: Claim, example: Example, outcome: Outcome) -> Told | None:
        allowed = self._assignment.problem(claim.problem).allowed
        told = trespass(outcome, allowed) or explain(outcome, claim.id.split(".")[1])
        if told is not None:
            return told
        try:
            mismatch = claim.judge(example, outcome)
        except Unreadable as words:
            mismatch = Mismatch(headline=str(words))
        except Exception as error:  # a mistake of the judge's, or something that no right function hands back
            fault = f"{type(error).__name__}: {error}"
            return Status.KIT_ERROR, Mismatch(headline=f"the grader has no judgement on what came back ({fault})")
        return None if mismatch is None else (Status.FAILED, mismatch)
