"""Ranks that do not call the same collectives are told where they part."""

from __future__ import annotations

import pytest

from autograder.cluster.outcome import End, Outcome, RankOutcome
from autograder.diagnosis.collective_order import disagreement, outside
from autograder.protocol.operation import Operation
from autograder.protocol.reply import Reply
from autograder.protocol.status_board import RUNNING, WAITING, RankActivity


def called(kind: str, nbytes: int, line: int) -> Operation:
    return Operation(kind, kind, -1, nbytes, 0, (0, 1), 0.0, 1.0, "data_parallel.py", line)


def replied(rank: int, *operations: Operation, status: str = "returned") -> RankOutcome:
    return RankOutcome(rank=rank, end=End.REPLIED, reply=Reply(status, operations=operations))


def died(rank: int, kind: str, nth: int, nbytes: int, state: int = WAITING) -> RankOutcome:
    activity = RankActivity(
        1, 5, state, nbytes=nbytes, line=7, nth=nth, members=(0, 1), kind=kind, file="data_parallel.py"
    )
    return RankOutcome(rank=rank, end=End.DIED, activity=activity)


def test_the_same_calls_agree() -> None:
    calls = [called("broadcast", 8, 1), called("all_reduce", 32, 2), called("all_reduce", 8, 3)]
    assert disagreement(Outcome(ranks=(replied(0, *calls), replied(1, *calls)))) == ""


def test_sizes() -> None:
    first = replied(0, called("all_reduce", 8, 2), called("all_reduce", 32, 2))
    second = replied(1, called("all_reduce", 8, 2), called("all_reduce", 16, 3))
    told = disagreement(Outcome(ranks=(first, second)))
    assert told == "rank 0's 2nd all_reduce has 32 bytes (data_parallel.py:2), rank 1's has 16 (data_parallel.py:3)"


@pytest.mark.parametrize("state", [WAITING, RUNNING])
def test_a_dead_ranks_last_call_is_known_by_its_number(state: int) -> None:
    first = replied(0, called("all_reduce", 8, 2), called("all_reduce", 32, 2), status="raised")
    told = disagreement(Outcome(ranks=(first, died(1, "all_reduce", 2, 8, state))))
    assert told == "rank 0's 2nd all_reduce has 32 bytes (data_parallel.py:2), rank 1's has 8 (data_parallel.py:7)"
    assert disagreement(Outcome(ranks=(first, died(1, "all_reduce", 1, 8, state)))) == ""


def test_a_call_too_few() -> None:
    told = disagreement(Outcome(ranks=(replied(0), died(1, "all_reduce", 1, 8))))
    assert told == "rank 1 calls all_reduce a 1st time (data_parallel.py:7), rank 0 never does"


def test_sizes_of_ones_own() -> None:
    first, second = replied(0, called("all_to_all", 8, 2)), replied(1, called("all_to_all", 16, 2))
    assert disagreement(Outcome(ranks=(first, second))) == ""


def test_an_operation_without_a_known_group_says_nothing() -> None:
    bare = Operation("all_reduce", "all_reduce", -1, 8, 0, (), 0.0, 1.0, "data_parallel.py", 2)
    assert disagreement(Outcome(ranks=(replied(0, bare), replied(1)))) == ""


def test_a_message_that_leaves_the_group_is_named() -> None:
    inside = Operation("send", "send", 2, 4, 0, (), 0.0, 1.0, "collectives.py", 3)
    leaving = Operation("recv", "recv", 1, 4, 0, (), 0.0, 1.0, "collectives.py", 5)
    outcome = Outcome(ranks=(replied(0, inside, leaving), replied(1), replied(2)))
    told = outside(outcome, lambda rank: () if rank == 1 else (0, 2))
    assert told.startswith("rank 0's recv from rank 1 (collectives.py:5) leaves the group [0, 2]")
    assert outside(outcome, lambda rank: (0, 1, 2)) == ""
