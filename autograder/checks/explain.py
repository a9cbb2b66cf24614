"""Says what happened when not every rank returned: the cause first, then what each rank was doing."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Collection

from autograder.checks.disagree import disagreement
from autograder.checks.example import Mismatch
from autograder.cluster.board import RUNNING, WAITING
from autograder.cluster.messages import SourceLine
from autograder.cluster.outcome import End, Outcome, RankOutcome
from autograder.cluster.process import signal_name
from autograder.fabric.recording import refusal
from autograder.fabric.sim import verdict as verdicts
from autograder.fabric.sim.endpoint import SimulationError
from autograder.report.model import RankView, Status

# What a rank raises because another one died: never the cause.
_ECHO = re.compile(r"Connection (closed|reset) by peer|Broken pipe|peer rank|Socket closed", re.IGNORECASE)
_ABORTED_RECV = (
    "gloo ends the process when a message is larger than the buffer it is received into: compare the number of elements "
    "sent with the size of the buffer, on every rank and for sizes that do not divide"
)


def explain(outcome: Outcome, function: str) -> tuple[Status, Mismatch] | None:
    """The status and the story of an example that did not end with every rank returning; None if it did."""
    for teller in (
        _uprooted,
        _exceeded,
        _refused,
        _no_function,
        _misused,
        _died,
        _garbled,
        _raised,
        _not_attempted,
        _judged,
        _echoed,
        _busy,
        _stuck,
        _left_over,
        _unwaited,
    ):
        told = teller(outcome, function)
        if told is not None:
            return told
    return None


def trespass(outcome: Outcome, allowed: Collection[str]) -> tuple[Status, Mismatch] | None:
    """What the problem does not allow, and the fabric's own record shows: ranks did it on another road than torch's."""
    for rank in outcome.ranks:
        for op in rank.operations:
            if allowed and op.kind not in allowed:
                headline = refusal(op.api or op.kind, frozenset(allowed))
                return Status.FAILED, Mismatch(headline=headline, where=(f"{op.file}:{op.line}",) if op.file else ())
    return None


def _first(outcome: Outcome, *statuses: str) -> RankOutcome | None:
    return next((rank for rank in outcome.ranks if rank.status in statuses), None)


def _refused(outcome: Outcome, function: str) -> tuple[Status, Mismatch] | None:
    for rank in outcome.ranks:
        if rank.reply and rank.reply.refused:
            where = lines(rank.reply.raised.lines) if rank.reply.raised else ()
            return Status.FAILED, Mismatch(headline=rank.reply.refused[0], where=where)
    return None


def _uprooted(outcome: Outcome, function: str) -> tuple[Status, Mismatch] | None:
    if _first(outcome, End.UPROOTED) is None:
        return None
    headline = f"{function} ended the process that all ranks come from: a function must not signal other processes"
    return Status.CRASHED, Mismatch(headline=headline)


def _exceeded(outcome: Outcome, function: str) -> tuple[Status, Mismatch] | None:
    rank = _first(outcome, End.EXCEEDED)
    if rank is None:
        return None
    headline = f"{function} used {rank.detail}"
    return Status.CRASHED, Mismatch(headline=headline, ranks=_doings(outcome), where=_place(rank))


def _no_function(outcome: Outcome, function: str) -> tuple[Status, Mismatch] | None:
    rank = _first(outcome, "missing")
    if rank:
        return Status.FAILED, Mismatch(headline=str(rank.value), hints=("it was there in the handout: put it back",))
    rank = _first(outcome, "unimportable")
    if rank and rank.reply and rank.reply.raised:
        raised = rank.reply.raised
        headline = f"the module cannot be imported: {raised.type}: {raised.text}"
        return Status.FAILED, Mismatch(headline=headline, where=lines(raised.lines))
    return None


def _misused(outcome: Outcome, function: str) -> tuple[Status, Mismatch] | None:
    """A mistake that the simulated cluster saw at once, whatever came of it afterwards."""
    verdict = outcome.verdict
    consequences = (verdicts.DEADLOCK, verdicts.ENDED_EARLY, verdicts.DIED, verdicts.UNWAITED, verdicts.LEFT_OVER)
    return None if verdict is None or verdict.kind in consequences else _judged(outcome, function)


def _judged(outcome: Outcome, function: str) -> tuple[Status, Mismatch] | None:
    """What the simulated cluster has to say."""
    verdict = outcome.verdict
    if verdict is None:
        return None
    notes = {line.rank: line for line in verdict.lines}
    rows = [
        RankView(rank=r.rank, note=_note(r, verdict, notes.get(r.rank)), wrong=r.rank in verdict.ranks)
        for r in outcome.ranks
    ]
    where = [f"{os.path.basename(line.file)}:{line.line}" for line in verdict.lines if line.file]
    return Status.FAILED, Mismatch(headline=verdict.summary, ranks=tuple(rows), where=tuple(dict.fromkeys(where)))


def _note(rank: RankOutcome, verdict: verdicts.Verdict, line: verdicts.RankLine | None) -> str:
    """What the verdict says of a rank, unless it is what the headline says already."""
    if line is None:
        return _doing(rank)
    return "" if line.text == verdict.summary else line.text


def _died(outcome: Outcome, function: str) -> tuple[Status, Mismatch] | None:
    rank = _first(outcome, End.DIED)
    if rank is None or _cause(outcome) is not None:
        return None
    headline = f"rank {rank.rank}'s process ended {_how(rank.exit_status)}{_during(rank)}"
    receiving = rank.doing is not None and rank.doing.kind == "recv" and rank.exit_status == -signal.SIGABRT
    hints = (_ABORTED_RECV,) if receiving else _out_of_order(outcome)
    return Status.CRASHED, Mismatch(headline=headline, ranks=_doings(outcome), where=_place(rank), hints=hints)


def _out_of_order(outcome: Outcome) -> tuple[str, ...]:
    """Which collective the ranks do not agree about, if any, and why that matters."""
    told = disagreement(outcome)
    if not told:
        return ()
    return (
        f"{told}: a group's collectives are matched by the order of the calls, so every rank has to make the same ones",
    )


def _how(status: int | None) -> str:
    if status is None:
        return "without a trace"
    if status >= 0:
        return f"with exit status {status}: a function must return, not leave the process"
    return f"by signal {signal_name(-status)}"


def _during(rank: RankOutcome) -> str:
    doing = rank.doing
    return f", in {_operation(rank)}" if doing is not None and doing.kind and doing.state == WAITING else ""


def _garbled(outcome: Outcome, function: str) -> tuple[Status, Mismatch] | None:
    rank = _first(outcome, End.GARBLED)
    if rank is None:
        return None
    return Status.CRASHED, Mismatch(headline=f"rank {rank.rank}'s reply could not be read: {rank.detail}")


def _cause(outcome: Outcome) -> RankOutcome | None:
    """The first rank that raised on its own account."""
    raised = [rank for rank in outcome.ranks if rank.status == "raised" and rank.reply and rank.reply.raised]
    own = [rank for rank in raised if not _is_echo(rank, outcome)]
    return next(iter(own), None)


def _is_echo(rank: RankOutcome, outcome: Outcome) -> bool:
    """Whether the rank raised only because of what had gone wrong elsewhere."""
    raised = rank.reply.raised
    return bool(_ECHO.search(raised.text)) or (outcome.verdict is not None and raised.type == SimulationError.__name__)


def _raised(outcome: Outcome, function: str) -> tuple[Status, Mismatch] | None:
    return _told_of(_cause(outcome), outcome, function)


def _echoed(outcome: Outcome, function: str) -> tuple[Status, Mismatch] | None:
    return _told_of(_first(outcome, "raised"), outcome, function)


def _told_of(rank: RankOutcome | None, outcome: Outcome, function: str) -> tuple[Status, Mismatch] | None:
    """The exception of one rank."""
    if rank is None or rank.reply is None or rank.reply.raised is None:
        return None
    raised = rank.reply.raised
    text = f": {raised.text}" if raised.text else ""
    mismatch = Mismatch(
        headline=f"{function} raised {raised.type} on rank {rank.rank}{text}",
        where=lines(raised.lines),
        ranks=_doings(outcome),
        hints=() if _cause(outcome) else _out_of_order(outcome),
    )
    return Status.FAILED, mismatch


def _not_attempted(outcome: Outcome, function: str) -> tuple[Status, Mismatch] | None:
    rank = _first(outcome, "not_attempted")
    if rank is None or rank.reply is None or rank.reply.raised is None:
        return None
    return Status.NOT_ATTEMPTED, Mismatch(headline=rank.reply.raised.text or "not attempted")


def _busy(outcome: Outcome, function: str) -> tuple[Status, Mismatch] | None:
    rank = _first(outcome, End.BUSY)
    if rank is None:
        return None
    headline = f"rank {rank.rank} never came back from {function}: it computes without end"
    return Status.TIMEOUT, Mismatch(headline=headline, ranks=_doings(outcome), where=_place(rank))


def _stuck(outcome: Outcome, function: str) -> tuple[Status, Mismatch] | None:
    stuck = [rank for rank in outcome.ranks if rank.end is End.STUCK]
    if not stuck:
        return None
    where = tuple(dict.fromkeys(place for rank in stuck for place in _place(rank)))
    headline = _who_waits(stuck, outcome)
    return Status.TIMEOUT, Mismatch(
        headline=headline, ranks=_doings(outcome), where=where, hints=_out_of_order(outcome)
    )


def _who_waits(stuck: list[RankOutcome], outcome: Outcome) -> str:
    """One sentence: a circle of ranks, a rank that waits for one that has gone, or the plain list."""
    peers = {rank.rank: rank.doing.peer for rank in stuck if rank.doing and rank.doing.state == WAITING}
    circle = _circle(peers)
    if circle:
        chain = ", ".join(f"rank {r} in {_operation(outcome.ranks[r])}" for r in circle)
        return f"deadlock: {'each waits for the next' if len(circle) > 1 else 'it waits for itself'}: {chain}"
    for rank in stuck:
        peer = peers.get(rank.rank, -1)
        if 0 <= peer < len(outcome.ranks) and outcome.ranks[peer].end is not End.STUCK:
            return f"rank {rank.rank} waits in {_operation(rank)} for ever: rank {peer} has already returned"
        members = rank.doing.members if rank.doing and peer < 0 else ()
        gone = next((r.rank for r in outcome.ranks if r.rank in members and r.status == "returned"), None)
        if gone is not None:
            return f"rank {rank.rank} waits in {_operation(rank)} for ever: rank {gone} has already returned"
    asleep = next((rank for rank in stuck if rank.rank not in peers), None)
    if asleep is not None:
        return f"rank {asleep.rank} never came back: it sleeps outside of any operation"
    rank = stuck[0]
    return f"rank {rank.rank} waits in {_operation(rank)} for ever"


def _circle(peers: dict[int, int]) -> list[int]:
    """Ranks that wait for one another all around, if there are such."""
    for start in peers:
        path = [start]
        while (following := peers.get(path[-1], -1)) not in path and following in peers:
            path.append(following)
        if following in path:
            return path[path.index(following) :]
    return []


def _left_over(outcome: Outcome, function: str) -> tuple[Status, Mismatch] | None:
    if not outcome.leftovers:
        return None
    left = outcome.leftovers[0]
    if left.detail:
        headline = f"a message from rank {left.source} to rank {left.target} does not fit its buffer: {left.detail}"
    else:
        headline = (
            f"messages are left over: rank {left.source} sent {left.sent} to rank {left.target}, "
            f"which received {left.received}"
        )
    return Status.FAILED, Mismatch(headline=headline, hints=("the next call on this group would receive them",))


def _unwaited(outcome: Outcome, function: str) -> tuple[Status, Mismatch] | None:
    if outcome.seconds is not None:
        return None  # the simulated cluster has looked at that itself
    for rank in outcome.ranks:
        for op in rank.operations:
            if op.end < 0:
                link = {"send": f" to rank {op.peer}", "recv": f" from rank {op.peer}"}.get(op.kind, "")
                headline = f"rank {rank.rank} never waited for its {op.api or op.kind}{link}"
                hint = (
                    "until a handle's wait() returns, the message may not have left, and its buffer must not be touched"
                )
                return Status.FAILED, Mismatch(headline=headline, where=(f"{op.file}:{op.line}",), hints=(hint,))
    return None


def _doings(outcome: Outcome) -> tuple[RankView, ...]:
    """A row for each rank: how far it came."""
    return tuple(RankView(rank=rank.rank, note=_doing(rank), wrong=rank.status != "returned") for rank in outcome.ranks)


def _doing(rank: RankOutcome) -> str:
    if rank.status == "returned":
        return "returned"
    if rank.reply is not None:
        raised = rank.reply.raised
        return f"raised {raised.type}" if raised else rank.reply.status
    if rank.end is End.DIED:
        return f"ended {_how(rank.exit_status).partition(':')[0]}"
    if rank.doing is not None and rank.doing.state == WAITING:
        return f"waits in {_operation(rank)}"
    if rank.doing is not None and rank.doing.state == RUNNING:
        place = _place(rank)
        return f"is in {place[-1]}" if place else "is in the middle of the call"
    return str(rank.end)


def _operation(rank: RankOutcome) -> str:
    """recv from rank 2 (collectives.py:41)."""
    doing = rank.doing
    if doing is None:
        return "an operation"
    link = {"send": " to", "recv": " from"}.get(doing.kind)
    peer = "" if link is None else f"{link} rank {doing.peer}" if doing.peer >= 0 else f"{link} any rank"
    place = f" ({doing.file}:{doing.line})" if doing.file else ""
    return f"{doing.kind}{peer}{place}"


def _place(rank: RankOutcome) -> tuple[str, ...]:
    if rank.stack:
        return lines(rank.stack[-3:])
    doing = rank.doing
    if doing is not None and doing.file:
        return lines((SourceLine(doing.file, doing.line, doing.function),))
    return ()


def lines(source: tuple[SourceLine, ...]) -> tuple[str, ...]:
    """collectives.py:41, in all_reduce: dist.recv(buffer, left)"""
    return tuple(
        f"{line.file}:{line.line}"
        + (f", in {line.function}" if line.function else "")
        + (f": {line.text}" if line.text else "")
        for line in source
    )
