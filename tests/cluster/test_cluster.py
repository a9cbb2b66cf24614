"""Ranks: warm over many examples, forked anew after any failure, and never reached by an earlier example's messages."""

from __future__ import annotations

import dataclasses
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

from autograder.cluster import launch
from autograder.cluster.cluster import Cluster
from autograder.cluster.outcome import Outcome
from autograder.grading.assignment import load
from autograder.grading.shrinking import GraderError as GraderError
from autograder.grading.shrinking import Search as Search
from autograder.problems.collectives.examples import Collective
from autograder.protocol.messages import WORDS_WEIGHT, Inbox, MalformedMessage, ReplyQuota, decode, encode
from autograder.protocol.reply import Reply

TALKATIVE = """
import os
import torch, torch.distributed as dist

def all_reduce(tensor, op=None, group=None):
    n, r = dist.get_world_size(), dist.get_rank()
    if tensor.numel() == 1 and r == 0:
        dist.isend(torch.full((3,), 7.0), 1)      # nobody receives it in this example
    if tensor.numel() == 3 and r == 1:
        dist.recv(tensor, 0)
    if tensor.numel() == 3 and r == 0:
        dist.send(torch.full((3,), 1.0), 1)
    if tensor.numel() == 2:
        tensor.fill_(os.getpid())
"""


def ask(cluster: Cluster, folder: Path, example: Collective) -> Outcome:
    call = example.call()
    requests = call.requests("collectives")
    return cluster.group(folder, "gloo", example.world_size).call(requests, call.tensors)


def pids(outcome: Outcome) -> list[float]:
    return [rank.tensors["0/tensor"][0].item() for rank in outcome.ranks]


def example(count: int, dtype: Any = None) -> Collective:
    import torch

    return Collective("all_reduce", 3, shape=(count,), dtype=dtype or torch.float64)


def test_ranks_stay_warm_until_something_goes_wrong(cluster: Cluster, tmp_path: Path) -> None:
    (tmp_path / "collectives.py").write_text(TALKATIVE)
    first, second = (pids(ask(cluster, tmp_path, example(2))) for _ in range(2))
    assert first == second and len(set(first)) == 3
    left = ask(cluster, tmp_path, example(1))
    assert [(pair.source, pair.target, pair.sent, pair.received) for pair in left.leftovers] == [(0, 1, 1, 0)]
    assert not set(pids(ask(cluster, tmp_path, example(2)))) & set(first)
    cluster.release(tmp_path)


def test_a_message_of_one_example_does_not_reach_the_next(cluster: Cluster, tmp_path: Path) -> None:
    import torch

    (tmp_path / "collectives.py").write_text(TALKATIVE)
    ask(cluster, tmp_path, example(1, torch.float32))
    outcome = ask(cluster, tmp_path, example(3, torch.float32))
    assert outcome.ranks[1].tensors["0/tensor"].tolist() == [1, 1, 1]
    cluster.release(tmp_path)


COUNTS_ITS_THREADS = """
from pathlib import Path

def all_reduce(tensor, op=None, group=None):
    names = [file.read_text().strip() for file in Path("/proc/self/task").glob("*/comm")]
    tensor.fill_(names.count("gloo_tcp_loop"))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="threads are counted in /proc")
def test_groups_of_a_rank_share_the_thread_that_polls(cluster: Cluster, tmp_path: Path) -> None:
    (tmp_path / "collectives.py").write_text(COUNTS_ITS_THREADS)
    for members in ((0, 1), (2, 0), (0, 1, 2)):
        outcome = ask(cluster, tmp_path, dataclasses.replace(example(2), members=members))
    assert pids(outcome) == [1, 1, 1]
    cluster.release(tmp_path)


def test_where_forking_is_unsafe_ranks_are_spawned(tmp_path: Path) -> None:
    (tmp_path / "collectives.py").write_text(TALKATIVE)
    with Cluster(launch.Start(load().limits, method="spawn")) as cluster:
        assert len(set(pids(ask(cluster, tmp_path, example(2))))) == 3


class Line:
    """A socket that delivers what it is told to."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def recv(self, size: int, flags: int) -> bytes:
        piece, self._data = self._data[:size], self._data[size:]
        if not piece:
            raise BlockingIOError
        return piece


def test_replies_are_capped_and_whole() -> None:
    frame = encode(Reply("returned"), {})
    least = WORDS_WEIGHT * len(frame)

    def inbox(data: bytes, limit: int = least, room: ReplyQuota | None = None) -> Inbox:
        return Inbox(Line(data), limit, room or ReplyQuota(least))

    assert decode(*inbox(frame).read(), Reply)[0].status == "returned"
    assert inbox(frame[:-1]).read() is None
    with pytest.raises(MalformedMessage, match="over the limit"):
        inbox(b"\xff\xff\xff\xff\xff\xff\xff\x7f").read()
    with pytest.raises(MalformedMessage, match="more than one"):
        inbox(frame + frame).read()
    with pytest.raises(MalformedMessage, match="besides tensors, over the limit"):
        inbox(frame, len(frame)).read()
    of_nothing = encode(Reply("returned"), {str(number): torch.empty(0) for number in range(100)})
    with pytest.raises(MalformedMessage, match="besides tensors, over the limit"):
        inbox(of_nothing, len(of_nothing), ReplyQuota(1 << 20)).read()
    of_much = encode(Reply("returned"), {"x": torch.ones(100_000)})
    assert inbox(of_much, len(of_much), ReplyQuota(1 << 20)).read()
    room = ReplyQuota(2 * least)
    assert inbox(frame, room=room).read() and inbox(frame, room=room).read()
    with pytest.raises(MalformedMessage, match="together"):
        assert inbox(frame, room=room).read() and inbox(frame, room=room).read()


@pytest.mark.parametrize(
    "head",
    [
        *(b"", b"nonsense", b'{"status": 3}', b'{"status": NaN}', b"[" * 200_000),
        b'{"status": "returned", "operations": [["send", "", 0, 0, 0, [], 1e999, 0, "", 0]]}',
    ],
)
def test_malformed_replies_are_garbled(head: bytes) -> None:
    with pytest.raises(MalformedMessage):
        decode(head, b"", Reply)


def test_malformed_tensors_are_garbled() -> None:
    head, _ = encode(Reply("returned"), {}), None
    for body in (b"\x80\x04cos\nsystem\n", b"\x00" * 64, b"\xff" * 64):
        with pytest.raises(MalformedMessage):
            decode(head[8:], body, Reply)


def test_a_fault_of_the_kit_is_recalled_like_any_other_end() -> None:
    """An example runs once, however its search goes on: what the kit had to say is not lost on the way."""
    attempts: list[int] = []

    def attempt(number: int) -> None:
        attempts.append(number)
        raise GraderError("the two witnesses disagree")

    hunt = Search(attempt)
    for _ in range(2):
        with pytest.raises(GraderError, match="two witnesses"):
            hunt.follow(1)
    hunt.follow(2)
    assert attempts == [1]
