"""The switch trusts no rank: whatever arrives is a message, a verdict, or nothing, and never an error."""

import os
import signal
import socket

import msgspec
import pytest
import torch
import torch.distributed as dist
from hypothesis import given, settings
from hypothesis import strategies as st
from warm_ranks import once

from autograder.simulator import switch as switches
from autograder.simulator import topology, wire
from autograder.simulator.clock import real
from autograder.simulator.switch import Switch


def talk(data):
    """What a switch of two ranks makes of bytes from rank 0."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        switch = Switch(2, topology.load("laptop"))
        switch.attach(0, ours)
        theirs.settimeout(10)
        theirs.sendall(data)
        switch.on_ready()
        verdict = switch.verdict
        switch.detach()
    return verdict


SITE = wire.pack(wire.Site(0, "isend", "a.py", 1, "f"))
GROUP = wire.pack(wire.Group(0, "0", [0, 1]))
SEND = wire.Send(0, 0.0, 0, 0, 1, 0, "float32", 2)
ALL_REDUCE = wire.Collective(0, 0.0, 0, 0, "all_reduce", "float32", "SUM", -1, [2], [2])


def changed(message, body, **fields):
    return SITE + GROUP + wire.pack(msgspec.structs.replace(message, **fields), body)


GARBAGE = {
    "noise": b"\xff" * 64,
    "a huge head": wire.LENGTHS.pack(wire.MAX_HEAD + 1, 0),
    "a huge body": wire.LENGTHS.pack(2, wire.MAX_BODY + 1),
    "no JSON": wire.LENGTHS.pack(4, 0) + b"\x80\x04N.",
    "deep JSON": wire.LENGTHS.pack(60000, 0) + b"[" * 60000,
    "a number too large": wire.LENGTHS.pack(16, 0) + b'["Finish",1e999]',
    "an answer": wire.pack(wire.Done(0.0, 0, [])),
    "no place": wire.pack(SEND, b"12345678"),
    "no group": SITE + wire.pack(SEND, b"12345678"),
    "a group without the rank": SITE + wire.pack(wire.Group(0, "0", [1])),
    "a group with a rank too many": SITE + wire.pack(wire.Group(0, "0", [0, 7])),
    "an empty group": wire.pack(wire.Group(0, "0", [])),
    "a short message": changed(SEND, b"1234"),
    "an unknown dtype": changed(SEND, b"12345678", dtype="float31"),
    "a send to itself": changed(SEND, b"12345678", peer=0),
    "a send to nobody": changed(SEND, b"12345678", peer=-1),
    "a send to a stranger": changed(SEND, b"12345678", peer=5),
    "a number out of turn": changed(SEND, b"12345678", id=3),
    "a wait for nothing": SITE + wire.pack(wire.Wait(0, 0.0, 0)),
    "a wait that never was": changed(SEND, b"12345678") + wire.pack(wire.Waited(0, 1.0)),
    "time that runs backwards": changed(SEND, b"12345678", clock=2.0) + wire.pack(wire.Wait(0, 1.0, 0)),
    "words after the end": wire.pack(wire.Finish(0.0, "")) * 2,
    "words while waiting": changed(SEND, b"12345678") + wire.pack(wire.Wait(0, 0.0, 0)) * 2,
    "an unknown mistake": SITE + wire.pack(wire.Fault("deadlock", "somebody else", 0.0, 0)),
    "an unknown collective": changed(ALL_REDUCE, b"12345678", name="all_talk"),
    "an unknown reduction": changed(ALL_REDUCE, b"12345678", op="MEDIAN"),
    "bits of floats": changed(ALL_REDUCE, b"12345678", op="BAND"),
    "a root where none is": changed(ALL_REDUCE, b"12345678", root=1),
    "too few inputs": changed(ALL_REDUCE, b"", inputs=[]),
    "a result of another size": changed(ALL_REDUCE, b"12345678", outputs=[3]),
    "a collective without its data": changed(ALL_REDUCE, b"1234"),
}


@pytest.mark.parametrize("data", GARBAGE.values(), ids=GARBAGE)
def test_garbage_is_a_verdict_against_its_rank(data):
    verdict = talk(data)
    assert verdict is not None and verdict.kind == "malformed" and verdict.ranks == (0,)


def test_what_is_right_is_none():
    assert talk(changed(SEND, b"12345678")) is None
    assert talk(changed(ALL_REDUCE, b"12345678")) is None
    assert talk(changed(SEND, b"12345678")[:-3]) is None


@settings(max_examples=300, deadline=None, database=None, derandomize=True)
@given(st.binary(max_size=200), st.integers(0, 200))
def test_nothing_that_arrives_raises(noise, cut):
    good = changed(SEND, b"12345678")
    talk(noise)
    talk(good[:cut] + noise)
    head = wire.pack(wire.Finish(0.0, ""))[:-1]
    talk(wire.LENGTHS.pack(len(noise), 0) + noise + head)


def flooded(first, flood, world_size=2, most=None):
    """The switch after rank 0 has sent all that it would take, and whether it still listens to that rank."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        switch = Switch(world_size, topology.load("laptop"), most=most)
        switch.attach(0, ours)
        theirs.setblocking(False)
        theirs.send(first)
        switch.on_ready()
        view, looks = memoryview(flood), 0
        while view and looks < 1000:
            try:
                view = view[theirs.send(view) :]
            except OSError:
                switch.on_ready()
                looks += 1
        switch.on_ready()
        listens = 0 in switch._ports
        switch.detach()
    return switch, listens


def test_a_flood_of_messages_ends():
    flood = b"".join(wire.pack(msgspec.structs.replace(SEND, id=i), b"12345678") for i in range(3000))
    switch, listens = flooded(SITE + GROUP, flood)
    assert listens and switch.verdict is None
    switch, listens = flooded(SITE + GROUP, flood, most=1 << 19)
    assert not listens and "more than the 524,288 bytes" in switch.verdict.summary


def test_a_flood_after_the_end_of_an_example_ends():
    fault = SITE + wire.pack(wire.Fault("self", "to itself", 0.0, 0))
    late = wire.pack(wire.Finish(0.0, ""))
    for count, still in ((100, True), (100_000, False)):
        switch, listens = flooded(fault, late * count, world_size=1)
        assert switch.verdict.kind == "self" and listens == still


def test_a_rank_that_asks_and_does_not_read_is_left_alone(monkeypatch):
    monkeypatch.setattr(switches, "MAX_UNREAD", 1 << 16)
    ours, theirs = socket.socketpair()
    with ours, theirs:
        switch = Switch(2, topology.load("laptop"))
        switch.attach(0, ours)
        theirs.setblocking(False)
        theirs.send(SITE + GROUP + wire.pack(SEND, b"12345678"))
        question, asked = wire.pack(wire.Poll(0, 0.0, 0)), 0
        while asked < 100_000:
            try:
                asked += theirs.send(question * 100) // len(question)
            except BlockingIOError:
                switch.on_ready()
                if 0 not in switch._ports:
                    break
        assert 0 not in switch._ports and asked < 100_000
        switch.on_ready()
        switch.detach()


def test_a_rank_that_does_not_read_stops_nobody():
    ours, theirs = socket.socketpair()
    with ours, theirs:
        switch = Switch(1, topology.load("laptop"))
        switch.attach(0, ours)
        theirs.setblocking(False)
        body = b"\0" * (1 << 22)
        message = wire.Collective(0, 0.0, 0, 0, "all_reduce", "uint8", "SUM", -1, [1 << 22], [1 << 22])
        data = SITE + wire.pack(wire.Group(0, "0", [0])) + wire.pack(message, body) + wire.pack(wire.Wait(0, 0.0, 0))
        view = memoryview(data)
        while view:
            try:
                view = view[theirs.send(view) :]
            except BlockingIOError:
                switch.on_ready()
        switch.on_ready()
        assert switch.verdict is None
        answer = bytearray()
        while len(answer) < len(body):
            switch.on_ready()
            answer += theirs.recv(1 << 20)
        switch.detach()


def sums_and_hands_on(rank, n):
    total, handed = torch.full((3,), rank + 1.0), torch.full((2,), 7)
    dist.all_reduce(total)
    if rank == 0:
        dist.send(handed, 1)
    else:
        dist.recv(handed, 0)
    return total.tolist(), handed.tolist()


@pytest.mark.parametrize(("zeroed_payloads", "total", "handed"), [(False, 3.0, 7), (True, 0.0, 0)])
def test_emptied_messages_arrive_as_zeros(zeroed_payloads, total, handed):
    outcome = once(sums_and_hands_on, 2, zeroed_payloads=zeroed_payloads)
    assert outcome.verdict is None
    assert outcome.results[0] == ([total] * 3, [7, 7])
    assert outcome.results[1] == ([total] * 3, [handed] * 2)


def sums_by_halves(rank, n):
    halves = [dist.new_group([0, 2]), dist.new_group([1, 3])]
    dist.all_reduce(torch.ones(1), group=halves[rank % 2])


def test_the_report_names_the_group_of_an_operation():
    outcome = once(sums_by_halves, 4)
    assert [report.operations[-1].group for report in outcome.reports] == [(0, 2), (1, 3), (0, 2), (1, 3)]


CALLS = {
    "send": lambda x: dist.send(x, 0),
    "isend": lambda x: dist.isend(x, 0).wait(),
    "recv": lambda x: dist.recv(x, 0),
    "recv from anyone": lambda x: dist.recv(x),
    "irecv": lambda x: dist.irecv(x, 0).wait(),
    "all_reduce": lambda x: dist.all_reduce(x),
    "broadcast": lambda x: dist.broadcast(x, 0),
    "barrier": lambda x: dist.barrier(),
    "computing": lambda x: [x.add_(1) for _ in iter(int, 1)],
    "after a message": lambda x: (dist.send(x, 2), os.kill(os.getpid(), signal.SIGKILL)),
}


def dies(rank, n, call, flag):
    """Rank 1 is killed in a call that would never end; rank 0 goes on when that is known, rank 2 waits.

    After a message, rank 0 must not keep the others waiting: nothing happens before the clock of a rank that runs.
    """
    x = torch.zeros(3)
    if rank == 1:
        pid = os.getpid()
        if call != "after a message" and os.fork() == 0:
            real.sleep(0.1)
            os.kill(pid, signal.SIGKILL)
            os._exit(0)
        CALLS[call](x)
    elif rank == 0:
        while call != "after a message" and not os.path.exists(flag):
            real.sleep(0.01)
        dist.recv(x, 2)
    else:
        if call == "after a message":
            dist.recv(x, 1)
        dist.recv(x, 1)


@pytest.mark.parametrize("call", CALLS)
def test_a_killed_rank_is_told_and_nothing_hangs(call, tmp_path):
    flag = tmp_path / "killed"
    outcome = once(dies, 3, call, str(flag), on_death=flag.touch)
    assert (outcome.verdict.kind, outcome.verdict.ranks) == ("died", (1,))
    assert "killed by SIGKILL" in outcome.results[0] and "killed by SIGKILL" in outcome.results[2]
