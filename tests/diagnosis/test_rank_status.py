"""What is said of ranks that did not return: who failed, and who was only stopped."""

from __future__ import annotations

import pytest

from autograder.cluster.outcome import End, Outcome, RankOutcome
from autograder.diagnosis.rank_status import of_all
from autograder.protocol.reply import Raised, Reply
from autograder.simulator.verdict import DIED, Verdict

STOPPED = "was stopped: another rank had failed"
VERDICT = Verdict(DIED, "Rank 1 raised KeyError.", (1,), ())


def raising(rank: int, kind: str, text: str = "") -> RankOutcome:
    """A rank whose function raised."""
    return RankOutcome(rank=rank, end=End.REPLIED, reply=Reply("raised", raised=Raised(kind, text)))


@pytest.mark.parametrize(
    ("echo", "verdict"),
    [
        (raising(0, "SimulationError", "Rank 1 raised KeyError."), VERDICT),
        (raising(0, "RuntimeError", "Connection closed by peer"), None),
    ],
)
def test_a_rank_that_another_one_stopped_is_not_marked(echo: RankOutcome, verdict: Verdict | None) -> None:
    returned = RankOutcome(rank=2, end=End.REPLIED, reply=Reply("returned"))
    rows = of_all(Outcome(ranks=(echo, raising(1, "KeyError"), returned), verdict=verdict))
    assert [row.wrong for row in rows] == [False, True, False]
    assert [row.note for row in rows] == [STOPPED, "raised KeyError", "returned"]


def test_where_nobody_else_failed_the_rank_is_told_what_it_raised() -> None:
    rows = of_all(Outcome(ranks=(raising(0, "SimulationError"), raising(1, "SimulationError")), verdict=VERDICT))
    assert all(row.wrong and row.note == "raised SimulationError" for row in rows)


def test_a_name_alone_is_no_excuse() -> None:
    rows = of_all(Outcome(ranks=(raising(0, "SimulationError"), raising(1, "KeyError"))))
    assert all(row.wrong for row in rows)
