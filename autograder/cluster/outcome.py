"""What came of one example: each rank's reply, or what became of the rank instead."""

from __future__ import annotations

import enum

import msgspec
import torch

from autograder.protocol.operation import Operation, SourceLine
from autograder.protocol.reply import Reply
from autograder.protocol.status_board import WAITING, RankActivity
from autograder.simulator.verdict import Verdict


class End(enum.StrEnum):
    """How a rank's example ended."""

    REPLIED = "replied"  # with a Reply, whatever its status
    STUCK = "stuck"  # blocked, or asleep, with nobody left to wake it
    BUSY = "busy"  # used up its processor time
    DIED = "died"  # the process ended
    EXCEEDED = "exceeded"  # went beyond a limit that `detail` names
    ZYGOTE_DIED = "zygote_died"  # the process that all ranks come from was killed under them
    MALFORMED = "malformed"  # its reply was no message of ours, or too large


class RankOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """One rank's end. `activity` and `stack` (innermost line last) say where it was if it did not reply.

    `observed` are its operations as the simulated switch saw them, which counts for more than its own record;
    `device` is the type of device that its tensors have to be on.
    """

    rank: int
    end: End
    reply: Reply | None = None
    tensors: dict[str, torch.Tensor] = {}
    activity: RankActivity | None = None
    stack: tuple[SourceLine, ...] = ()
    exit_status: int | None = None
    detail: str = ""
    output: str = ""
    observed: tuple[Operation, ...] | None = None
    device: str = "cpu"

    @property
    def status(self) -> str:
        """The reply's status, or how the rank ended without one."""
        return self.reply.status if self.reply else str(self.end)

    @property
    def pending(self) -> RankActivity | None:
        """The operation that a rank without a reply waited in; of a rank that died, the last that it began.

        A library's thread may end the process while the rank's own thread is in between two lines.
        """
        activity = self.activity
        there = activity is not None and activity.kind and (activity.state == WAITING or self.end is End.DIED)
        return activity if there else None

    @property
    def operations(self) -> tuple[Operation, ...]:
        if self.observed is not None:
            return self.observed
        return self.reply.operations if self.reply else ()

    @property
    def missing(self) -> str:
        """What the submission does not have; "" if nothing is missed."""
        return self.reply.missing if self.reply else ""


class Leftover(msgspec.Struct, frozen=True):
    """Messages from one rank to another that do not add up."""

    source: int
    target: int
    sent: int
    received: int
    detail: str = ""


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """All ranks of one example, in rank order.

    On the simulated cluster `seconds` are the ranks' virtual times, and `verdict` is what it found wrong.
    """

    ranks: tuple[RankOutcome, ...]
    leftovers: tuple[Leftover, ...] = ()
    verdict: Verdict | None = None
    seconds: tuple[float, ...] | None = None

    @property
    def returned(self) -> bool:
        """Every rank came back from the student's function, and no message is left over."""
        return self.verdict is None and not self.leftovers and all(r.status == "returned" for r in self.ranks)


def leftovers(ranks: tuple[RankOutcome, ...]) -> tuple[Leftover, ...]:
    """Point-to-point messages that were sent and not received, or received with another size, by the ranks' records."""
    sent: dict[tuple[int, int], list[Operation]] = {}
    received: dict[tuple[int, int], list[Operation]] = {}
    for rank in ranks:
        for op in rank.operations:
            if op.kind == "send":
                sent.setdefault((rank.rank, op.peer), []).append(op)
            elif op.kind == "recv" and op.peer >= 0:
                received.setdefault((op.peer, rank.rank), []).append(op)
    found = []
    for pair in sorted(sent.keys() | received.keys()):
        out, into = sent.get(pair, []), received.get(pair, [])
        if len(out) != len(into):
            found.append(Leftover(*pair, len(out), len(into)))
            continue
        for a, b in zip(sorted(out, key=_channel), sorted(into, key=_channel), strict=True):
            if a.nbytes != b.nbytes:
                detail = f"{a.nbytes} bytes sent at {a.file}:{a.line}, {b.nbytes} bytes received at {b.file}:{b.line}"
                found.append(Leftover(*pair, len(out), len(into), detail))
                break
    return tuple(found)


def _channel(op: Operation) -> tuple[int, tuple[int, ...]]:
    """Messages overtake each other only across tags and groups; sorting is stable within one."""
    return op.tag, op.group
