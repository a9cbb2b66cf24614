"""Examines one check: draws its planned examples, runs them on the ranks, and keeps the record that credit rests on."""

from __future__ import annotations

import hashlib
import itertools
import math
import time
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import hypothesis
import torch
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.strategies import SearchStrategy

from autograder import story
from autograder.assignment import Assignment, PlannedCheck
from autograder.checks.example import Claim, Example, Mismatch
from autograder.cluster.group import GroupFailed
from autograder.cluster.outcome import Outcome
from autograder.hunt import Found, Hunt, KitFault, cost_of, only_slow
from autograder.kinds import shares
from autograder.report.model import CheckResult, Failure, Setting, Status
from autograder.side import Side, Told

# Of a check at one world size, so many examples are tried with emptied messages until one tells something.
EMPTIED_TRIES = 3
NEEDS_NO_MESSAGES = "the results are right although every message was emptied on its way: ranks may learn of one another by messages alone"


class Witness(NamedTuple):
    """The reference's word on one example: why it fails ("" if it does not), and what it spent, by rank and in words."""

    fails: str
    spent: dict[int, str]


class Examiner:
    """Examines the checks of one grading, in order, each against its plan in assignment.toml.

    `reference` is the side of the reference solutions, where there are any, and `witness` what it has shown so far;
    `tell` is called as the grading goes.
    """

    def __init__(
        self,
        assignment: Assignment,
        setting: Setting,
        submission: Side,
        reference: Side | None,
        witness: dict[Any, Witness] | None = None,
        tell: Callable[..., None] = lambda *_: None,
        notes: Sequence[str] = (),
    ) -> None:
        self._assignment, self.setting = assignment, setting
        self._submission, self._reference = submission, reference
        self._witness = {} if witness is None else witness
        self._tell, self.notes = tell, tuple(notes)
        self._budget = assignment.budgets[setting.budget]
        self._plan = {check.id: check for check in assignment.plan()}
        self.results: dict[str, CheckResult] = {}
        self._emptied: Counter[tuple[str, int]] = Counter()  # examples tried without their messages
        self._slow: set[str] = set()  # checks in which an example has been repeated because it took too long
        self._end = time.monotonic() + assignment.limits.submission_seconds

    def examine(self, claim: Claim) -> CheckResult:
        """Runs one check to its end; never raises for anything that a submission does."""
        planned = self._plan[claim.id]
        start = time.monotonic()
        self._facts: dict[str, str] = {}
        self._check_end = start + self._assignment.limits.check_seconds
        record = Record(planned, claim)
        held_back = self._held_back(planned)
        if held_back is not None:
            record.settle(*held_back)
        else:
            self._run(claim, planned, record)
        self.results[claim.id] = result = record.result(time.monotonic() - start, self._facts)
        self._tell("done", result)
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

    def _run(self, claim: Claim, planned: PlannedCheck, record: Record) -> None:
        gpus = self._missing_gpus(claim, planned)
        if gpus:
            record.settle(Status.NOT_RUN, gpus)
            return
        try:
            for world_size in planned.world_sizes:
                self._tell("checking", claim.id, world_size)
                self._explore(claim, planned, world_size, record)
        except Found as found:
            record.settle(found.status, found.failure.headline, failure=found.failure)
        except (KitFault, GroupFailed) as fault:
            record.settle(Status.KIT_ERROR, str(fault))
        except Exception as error:
            record.settle(Status.KIT_ERROR, f"{type(error).__name__} in the grader: {error}")

    def _missing_gpus(self, claim: Claim, planned: PlannedCheck) -> str:
        """Why this check cannot be run on this machine's GPUs, one rank a GPU; "" if it can."""
        if self.setting.backend != "nccl" or "real" not in claim.backends:
            return ""
        there, needed = torch.cuda.device_count(), max(planned.world_sizes)
        return f"needs {needed} GPUs, one a rank; there are {there}" if there < needed else ""

    def _explore(self, claim: Claim, planned: PlannedCheck, world_size: int, record: Record) -> None:
        """Draws examples at one world size, of every kind that is its share; raises Found with the smallest that fails."""
        run = itertools.count()
        hunt = Hunt(lambda example: self._try(claim, example, next(run)), claim.weight, self._budget.shrink)
        count = planned.examples or self._budget.examples
        strategies = claim.strategies(world_size)
        order = _seed(self.setting.seed, claim.id)
        for kind, many in shares(len(strategies), count, world_size, planned.world_sizes, order).items():
            seed = _seed(self.setting.seed, claim.id, world_size, kind)
            self._search(hunt, strategies[kind], many, len(strategies) > 1, seed)
        record.passed(world_size, hunt.passed)

    def _search(self, hunt: Hunt, strategy: SearchStrategy[Any], count: int, skips_first: bool, seed: int) -> None:
        """Draws `count` examples. The first is always the simplest one, which shows little; many kinds do without theirs."""
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
                hunt.follow(example)

        try:
            explore()
        except Found:
            raise hunt.smallest from None

    def _try(self, claim: Claim, example: Example, number: int) -> None:
        """Runs one example on each of the claim's backends; raises Found or KitFault.

        The simulated cluster comes first: it sees more, and what it sees costs no patience. Of the examples that it has
        passed, every so many are run on the real backend as well.
        """
        if time.monotonic() > self._check_end:
            minutes = self._assignment.limits.check_seconds / 60
            headline = f"the check had not come to its end after {minutes:g} minutes"
            raise Found(Status.TIMEOUT, Failure(headline=headline), math.inf)
        if "sim" in claim.backends:
            self._try_on("sim", claim, example)
            if claim.needs_messages:
                self._try_emptied(claim, example)
        every = self._budget.real_every if "sim" in claim.backends else 1
        if "real" in claim.backends and number % every == 0:
            self._try_on(self.setting.backend, claim, example)

    def _try_on(self, backend: str, claim: Claim, example: Example) -> None:
        """Runs one example on the submission, and on the reference before a submission is charged with anything.

        A submission that passes is itself a second witness to the expected values, so that the reference is asked about
        those examples only where the budget says so.
        """
        outcome, told = self._submission.run(backend, claim, example)
        if only_slow(outcome, told) and claim.id not in self._slow:
            # It may have had a bad moment: it counts if it takes too long again, in new ranks.
            self._slow.add(claim.id)
            outcome, told = self._submission.run(backend, claim, example)
        if told is None and claim.compare is not None and backend != "sim" and self._reference is not None:
            told = self._compared(backend, claim, example, outcome)
        spent: dict[int, str] = {}
        if self._reference is not None and (told is not None or self._budget.witness == "always"):
            spent = self._second_witness(backend, claim, example).spent
        if told is not None:
            status, mismatch = told
            if status is Status.KIT_ERROR:
                if self._reference is None:
                    raise KitFault(mismatch.headline)
                status = Status.FAILED  # the judge does not fail on what the reference hands back
            failure = story.failure(self.setting, backend, claim, example, outcome, mismatch)
            raise Found(status, story.beside(failure, spent), cost_of(outcome))

    def _try_emptied(self, claim: Claim, example: Example) -> None:
        """Runs a passed example again with every message emptied on its way: who is right then needs no messages.

        That is a fault only if the reference is wrong then: else the example tells nothing, and the next one is tried.
        """
        key = claim.id, example.world_size
        if self._reference is None or example.world_size == 1 or self._emptied[key] == EMPTIED_TRIES:
            return
        self._emptied[key] += 1
        outcome, told = self._submission.run("sim", claim, example, emptied=True)
        if told is not None:
            self._emptied[key] = EMPTIED_TRIES
            return
        other, told = self._reference.run("sim", claim, example, emptied=True)
        if told is not None and told[0] is Status.FAILED and other.returned:
            mismatch = Mismatch(headline=NEEDS_NO_MESSAGES)
            raise Found(Status.FAILED, story.failure(self.setting, "sim", claim, example, outcome, mismatch), math.inf)

    def _compared(self, backend: str, claim: Claim, example: Example, outcome: Outcome) -> Told | None:
        """A passed example beside the reference's, run right after it; both have come to the same, but for their figures."""
        other = self._ask(backend, claim, example)
        if self._witness[backend, claim.id, example].fails:
            return None  # the reference's own trouble is the second witness's to tell
        facts, mismatch = claim.compare(example, outcome, other)
        self._facts |= facts
        return None if mismatch is None else (Status.FAILED, mismatch)

    def _second_witness(self, backend: str, claim: Claim, example: Example) -> Witness:
        """The reference's word on an example. It has to satisfy the same judge, or the kit contradicts itself."""
        key = (backend, claim.id, example)
        if key not in self._witness:
            self._ask(backend, claim, example)
        witness = self._witness[key]
        if witness.fails:
            call = example.describe()
            raise KitFault(f"the reference fails its own check on {call.call} ({call.setting}): {witness.fails}")
        return witness

    def _ask(self, backend: str, claim: Claim, example: Example) -> Outcome:
        """Runs an example on the reference, and keeps its word on it."""
        assert self._reference is not None
        outcome, told = self._reference.run(backend, claim, example)
        if only_slow(outcome, told):
            outcome, told = self._reference.run(backend, claim, example)
        spent = claim.spent(example, outcome) if claim.spent is not None and told is None else {}
        self._witness[backend, claim.id, example] = Witness("" if told is None else told[1].headline, spent)
        return outcome


class Record:
    """What one check has shown so far. It passes only by `passed` at every planned world size."""

    def __init__(self, planned: PlannedCheck, claim: Claim) -> None:
        self._planned, self._claim = planned, claim
        self._examples: dict[int, int] = {}
        self._settled: dict[str, Any] | None = None

    def passed(self, world_size: int, count: int) -> None:
        """`count` examples passed at this world size."""
        self._examples[world_size] = count

    def settle(self, status: Status, reason: str, waits_for: str = "", failure: Failure | None = None) -> None:
        """The check has ended otherwise than by passing."""
        self._settled = {"status": status, "reason": reason, "waits_for": waits_for, "failure": failure}

    def result(self, seconds: float, facts: dict[str, str]) -> CheckResult:
        """The check's end; without a full record it is a fault of the kit, never a pass."""
        if self._settled is None:
            complete = all(self._examples.get(world_size) for world_size in self._planned.world_sizes)
            status = Status.PASSED if complete else Status.KIT_ERROR
            self._settled = {
                "status": status,
                "reason": "" if complete else "no example was run at a planned world size",
            }
        return CheckResult(
            id=self._planned.id,
            number=self._planned.number,
            title=self._claim.title,
            points=self._planned.points,
            visibility=self._planned.visibility,
            examples=self._examples,
            facts=facts,
            seconds=seconds,
            **self._settled,
        )


def _seed(seed: int, *of: Any) -> int:
    """Another one for every check, world size and kind: with one for all, they would draw the same examples."""
    return int.from_bytes(hashlib.sha256(" ".join(map(str, (seed, *of))).encode()).digest()[:8])
