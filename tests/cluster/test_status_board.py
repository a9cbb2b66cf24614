"""The board says what a rank is activity, whenever the rank may die."""

from __future__ import annotations

import mmap
import os
import signal
import tempfile
import time
from collections.abc import Iterator

import pytest

from autograder.checks.finding import Status
from autograder.cluster.outcome import End, Outcome, RankOutcome
from autograder.diagnosis.diagnose import diagnose
from autograder.protocol.reply import Reply
from autograder.protocol.status_board import IDLE, RUNNING, WAITING, RankActivity, Slot, StatusBoard, size

WORLD_SIZE = 3


@pytest.fixture
def fd() -> Iterator[int]:
    with tempfile.TemporaryFile() as file:
        os.ftruncate(file.fileno(), size(WORLD_SIZE))
        yield file.fileno()


@pytest.fixture
def board(fd: int) -> StatusBoard:
    return StatusBoard(fd, WORLD_SIZE)


@pytest.fixture
def slot(fd: int) -> Slot:
    return Slot(mmap.mmap(fd, size(WORLD_SIZE)), 2)


def receive(slot: Slot, nth: int) -> None:
    slot.waiting("recv", "irecv", 1, 4 * nth, "collectives.py", 10 + nth, "broadcast", nth, (0, 2))


def test_what_a_rank_waits_in(board: StatusBoard, slot: Slot) -> None:
    slot.begin()
    receive(slot, 3)
    expected = RankActivity(1, 2, WAITING, 1, 12, 13, 3, (0, 2), "recv", "irecv", "collectives.py", "broadcast")
    assert board.read() == [RankActivity(0, 0, IDLE, peer=0), RankActivity(0, 0, IDLE, peer=0), expected]


def test_the_last_operation_is_known_until_the_example_is_over(board: StatusBoard, slot: Slot) -> None:
    slot.begin()
    receive(slot, 1)
    slot.running()
    activity = board.read()[2]
    assert (activity.state, activity.kind, activity.line, activity.progress) == (RUNNING, "recv", 11, 3)
    slot.begin()
    assert board.read()[2] == RankActivity(2, 4, RUNNING)
    receive(slot, 1)
    slot.idle()
    assert board.read()[2] == RankActivity(2, 6, IDLE)


def test_a_rank_killed_while_it_writes_leaves_its_operation(board: StatusBoard, slot: Slot) -> None:
    slot.begin()
    receive(slot, 1)
    for number in range(60):
        pid = os.fork()
        if pid == 0:
            while True:
                receive(slot, 1)
        time.sleep(0.002 + number * 0.00013)
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        activity = board.read()[2]
        assert (activity.state, activity.kind, activity.file, activity.line) == (WAITING, "recv", "collectives.py", 11)


@pytest.mark.parametrize("state", [WAITING, RUNNING])
def test_a_dead_ranks_report_is_the_same_wherever_its_own_thread_was(state: int) -> None:
    """gloo's thread ends the process; the rank's own may be about to wait, or wait already."""
    activity = RankActivity(1, 5, state, 0, 4, 9, 1, (0, 1), "recv", "recv", "collectives.py", "broadcast")
    dead = RankOutcome(rank=1, end=End.DIED, activity=activity, exit_status=-signal.SIGABRT)
    told = diagnose(Outcome(ranks=(RankOutcome(rank=0, end=End.REPLIED, reply=Reply("returned")), dead)), "broadcast")
    assert told is not None and told[0] is Status.CRASHED
    headline = "rank 1's process ended by signal SIGABRT; its last operation: recv from rank 0 (collectives.py:9)"
    assert told[1].headline == headline
    assert told[1].where == ("collectives.py:9, in broadcast",)
    assert "larger than the buffer" in told[1].hints[0]


def test_a_rank_that_runs_its_own_code_is_in_no_operation() -> None:
    activity = RankActivity(1, 5, RUNNING, 0, 4, 9, 1, (0, 1), "recv", "recv", "collectives.py", "broadcast")
    stuck = RankOutcome(rank=1, end=End.STUCK, activity=activity)
    told = diagnose(Outcome(ranks=(RankOutcome(rank=0, end=End.REPLIED, reply=Reply("returned")), stuck)), "broadcast")
    assert told is not None
    assert told[1].headline == "rank 1 never came back: it sleeps outside of any operation"
    assert told[1].where == ()
