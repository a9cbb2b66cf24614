"""The search for a small failure: what it may spend, what a failure costs, and how each example went."""

from __future__ import annotations

import math
from collections.abc import Callable

from autograder.checks.example import Example
from autograder.checks.finding import Status
from autograder.cluster.outcome import End, Outcome, RankOutcome
from autograder.grading.assignment import Budget
from autograder.protocol.status_board import WAITING
from autograder.report.model import Failure

# What a failure costs to be seen again, in units of wrong values that come back (milliseconds). A failure that kills
# the group costs a new one; ranks that wait for one another cost the time to be sure of it. What is found out by
# patience alone is not looked for twice, and what no input can change not at all.
WRONG, BROKEN, STUCK = 2, 40, 150
NO_INPUT_CHANGES = (End.BUSY, End.EXCEEDED, End.ZYGOTE_DIED)
BUDGET = Budget(examples=1).shrink


class CheckFailed(Exception):
    """An example on which the check does not hold; `cost` is that of seeing it again."""

    def __init__(self, status: Status, failure: Failure, cost: float) -> None:
        super().__init__(failure.headline)
        self.status, self.failure, self.cost = status, failure, cost


class GraderError(Exception):
    """Something of the kit's own is wrong; nobody's submission is."""


class Search:
    """Keeps hypothesis's search for a smaller failure within a budget, and remembers how each example went.

    An example is run once: what failed once has failed, so a race that shows itself now and then cannot confuse the
    search. Once the budget is spent, every new example counts as one that does not fail.
    """

    def __init__(self, attempt: Callable[[Example], None], weight: int = 1, budget: float = BUDGET) -> None:
        self._attempt, self._weight = attempt, weight
        self._ends: dict[Example, Exception | None] = {}
        self._left = budget
        self._failing: CheckFailed | None = None
        self._has_failed = False

    @property
    def passed(self) -> int:
        """Examples that were run and passed."""
        return sum(end is None for end in self._ends.values())

    @property
    def smallest(self) -> CheckFailed:
        """The failure of the example that the search ended with."""
        assert self._failing is not None
        return self._failing

    def follow(self, example: Example) -> None:
        """Runs the example, or recalls how it went; raises CheckFailed if it fails."""
        if example not in self._ends:
            if self._has_failed and self._left <= 0:
                return
            self._ends[example] = self._end(example)
        end = self._ends[example]
        if isinstance(end, CheckFailed):
            self._failing = end
        if end is not None:
            raise end

    def _end(self, example: Example) -> Exception | None:
        try:
            self._attempt(example)
        except CheckFailed as failed:
            self._has_failed = True
            self._left -= failed.cost * self._weight
            return failed
        except Exception as error:
            self._has_failed = True
            self._left = 0  # nothing smaller is looked for: the kit has failed, or contradicted itself
            return error
        if self._has_failed:
            self._left -= self._weight
        return None


def cost_of(outcome: Outcome) -> float:
    """What it costs to see this failure again."""
    if outcome.returned:
        return WRONG
    whatever_the_input = {"missing", "unimportable", "not_attempted", *map(str, NO_INPUT_CHANGES)}
    asleep = any(_is_asleep(rank) for rank in outcome.ranks)
    if asleep or whatever_the_input & {rank.status for rank in outcome.ranks}:
        return math.inf
    return STUCK if any(rank.end is End.STUCK for rank in outcome.ranks) else BROKEN


def _is_asleep(rank: RankOutcome) -> bool:
    """Whether the rank got stuck outside of any operation."""
    return rank.end is End.STUCK and (rank.activity is None or rank.activity.state != WAITING)
