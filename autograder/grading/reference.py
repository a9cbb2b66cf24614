"""The second witness: the reference solutions on the same examples, and what they have shown so far."""

from __future__ import annotations

from typing import NamedTuple

from autograder.checks.check import Check
from autograder.checks.example import Example
from autograder.cluster.outcome import Outcome
from autograder.grading.runner import Runner, only_slow
from autograder.grading.shrinking import GraderError


class ReferenceResult(NamedTuple):
    """What the reference shows on one example: why it fails ("" if it does not), and what it spent, by rank."""

    fails: str
    spent: dict[int, str]


ReferenceResults = dict[tuple[str, str, Example], ReferenceResult]

# In place of a backend: the simulated cluster with zeroed payloads.
ZEROED = "sim, zeroed payloads"


class Reference:
    """The reference solutions on ranks of their own. `results` may be shared by gradings in a row."""

    def __init__(self, runner: Runner, results: ReferenceResults | None = None) -> None:
        self._runner = runner
        self._results: ReferenceResults = {} if results is None else results

    def result(self, backend: str, check: Check, example: Example) -> ReferenceResult:
        """What it shows on an example. It has to satisfy the same judge: GraderError if the kit contradicts itself."""
        result = self._known(backend, check, example)
        if result.fails:
            call = example.describe()
            raise GraderError(f"the reference fails its own check on {call.call} ({call.setting}): {result.fails}")
        return result

    def beside(self, backend: str, check: Check, example: Example) -> Outcome | None:
        """A fresh outcome of an example, to hold a submission's against; None if the reference itself fails there."""
        outcome = self._ask(backend, check, example)
        return None if self._known(backend, check, example).fails else outcome

    def needs_messages(self, check: Check, example: Example) -> bool:
        """Whether the reference is wrong where every payload is zeroed on its way: then messages matter."""
        key = (ZEROED, check.id, example)
        if key not in self._results:
            outcome, finding = self._runner.run("sim", check, example, zeroed_payloads=True)
            fails = finding.mismatch.headline if finding and finding.is_ordinary and outcome.returned else ""
            self._results[key] = ReferenceResult(fails, {})
        return bool(self._results[key].fails)

    def _known(self, backend: str, check: Check, example: Example) -> ReferenceResult:
        key = (backend, check.id, example)
        if key not in self._results:
            self._ask(backend, check, example)
        return self._results[key]

    def _ask(self, backend: str, check: Check, example: Example) -> Outcome:
        """Runs an example, and keeps what it shows."""
        outcome, finding = self._runner.run(backend, check, example)
        if only_slow(outcome, finding):
            outcome, finding = self._runner.run(backend, check, example)
        spent = check.spent(example, outcome) if check.spent is not None and finding is None else {}
        fails = "" if finding is None else finding.mismatch.headline
        self._results[backend, check.id, example] = ReferenceResult(fails, spent)
        return outcome
