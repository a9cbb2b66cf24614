"""Says what happened when not every rank returned: the cause first, then what each rank was doing."""

from __future__ import annotations

import os
import re
import signal

from autograder.checks.finding import Finding, Mismatch, RankView, Status
from autograder.cluster.outcome import End, Outcome, RankOutcome
from autograder.diagnosis.collective_order import disagreement
from autograder.diagnosis.rank_status import end, is_echo, last_operation, lines, of_all, places, rank_status, who_waits
from autograder.protocol.reply import Raised
from autograder.simulator import verdict as verdicts

# What an exception's type and text mean, where they do not say it themselves.
_MEANINGS = (
    (
        re.compile(r"^MemoryError|can't allocate memory|not enough memory"),
        "the machine may have more: a rank gets memory_bytes in assignment/assignment.toml, of which the examples need "
        "little, so look for what is kept from one step of a loop to the next",
    ),
    (
        re.compile(r"is not part of group|should not be the same as the rank of the current process"),
        "src and dst are ranks of the world; a rank in the group is a group_src or group_dst",
    ),
)
_ABORTED_RECV = (
    "gloo ends the process when a message is larger than the buffer it is received into: compare the number of "
    "elements sent with the size of the buffer, on every rank and for sizes that do not divide"
)


def diagnose(outcome: Outcome, function: str) -> Finding | None:
    """The status and the words for an example that did not end with every rank returning; None if it did."""
    for look in (
        _zygote_died,
        _exceeded,
        _refused,
        _no_function,
        _misused,
        _died,
        _malformed,
        _raised,
        _not_attempted,
        _judged,
        _echoed,
        _busy,
        _stuck,
        _left_over,
        _unwaited,
    ):
        found = look(outcome, function)
        if found is not None:
            return found
    return None


def _first(outcome: Outcome, *statuses: str) -> RankOutcome | None:
    return next((rank for rank in outcome.ranks if rank.status in statuses), None)


def _refused(outcome: Outcome, function: str) -> Finding | None:
    for rank in outcome.ranks:
        if rank.reply and rank.reply.refused:
            where = lines(rank.reply.raised.lines) if rank.reply.raised else ()
            return Finding(Status.FAILED, Mismatch(headline=rank.reply.refused[0], where=where))
    return None


def _zygote_died(outcome: Outcome, function: str) -> Finding | None:
    if _first(outcome, End.ZYGOTE_DIED) is None:
        return None
    headline = f"{function} ended the process that all ranks come from: a function must not signal other processes"
    return Finding(Status.CRASHED, Mismatch(headline=headline))


def _exceeded(outcome: Outcome, function: str) -> Finding | None:
    rank = _first(outcome, End.EXCEEDED)
    if rank is None:
        return None
    headline = f"{function} used {rank.detail}"
    return Finding(Status.CRASHED, Mismatch(headline=headline, ranks=of_all(outcome), where=places(rank)))


def _no_function(outcome: Outcome, function: str) -> Finding | None:
    rank = _first(outcome, "missing")
    if rank:
        return Finding(
            Status.FAILED, Mismatch(headline=rank.missing, hints=("it was there in the handout: put it back",))
        )
    rank = _first(outcome, "unimportable")
    if rank and rank.reply and rank.reply.raised:
        raised = rank.reply.raised
        headline = f"the module cannot be imported: {raised.type}: {raised.text}"
        return Finding(Status.FAILED, Mismatch(headline=headline, where=lines(raised.lines)))
    return None


def _misused(outcome: Outcome, function: str) -> Finding | None:
    """A mistake that the simulated cluster saw at once, whatever came of it afterwards."""
    verdict = outcome.verdict
    consequences = (verdicts.DEADLOCK, verdicts.ENDED_EARLY, verdicts.DIED, verdicts.UNWAITED, verdicts.LEFT_OVER)
    return None if verdict is None or verdict.kind in consequences else _judged(outcome, function)


def _judged(outcome: Outcome, function: str) -> Finding | None:
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
    return Finding(
        Status.FAILED, Mismatch(headline=verdict.summary, ranks=tuple(rows), where=tuple(dict.fromkeys(where)))
    )


def _note(rank: RankOutcome, verdict: verdicts.Verdict, line: verdicts.RankLine | None) -> str:
    """What the verdict says of a rank, unless it is what the headline says already."""
    if line is None:
        return rank_status(rank)
    return "" if line.text == verdict.summary else line.text


def _died(outcome: Outcome, function: str) -> Finding | None:
    rank = _first(outcome, End.DIED)
    if rank is None or _cause(outcome) is not None:
        return None
    headline = f"rank {rank.rank}'s process ended {end(rank.exit_status)}{last_operation(rank)}"
    receiving = rank.pending is not None and rank.pending.kind == "recv" and rank.exit_status == -signal.SIGABRT
    hints = (_ABORTED_RECV,) if receiving else _out_of_order(outcome)
    return Finding(Status.CRASHED, Mismatch(headline=headline, ranks=of_all(outcome), where=places(rank), hints=hints))


def _out_of_order(outcome: Outcome) -> tuple[str, ...]:
    """Which collective the ranks do not agree about, if any, and why that matters."""
    told = disagreement(outcome)
    if not told:
        return ()
    return (
        f"{told}: a group's collectives are matched by the order of the calls, so every rank has to make the same ones",
    )


def _malformed(outcome: Outcome, function: str) -> Finding | None:
    rank = _first(outcome, End.MALFORMED)
    if rank is None:
        return None
    return Finding(Status.CRASHED, Mismatch(headline=f"rank {rank.rank}'s reply could not be read: {rank.detail}"))


def _cause(outcome: Outcome) -> RankOutcome | None:
    """The first rank that raised on its own account."""
    for rank in outcome.ranks:
        if rank.status == "raised" and rank.reply and rank.reply.raised and not is_echo(rank, outcome):
            return rank
    return None


def _raised(outcome: Outcome, function: str) -> Finding | None:
    return _told_of(_cause(outcome), outcome, function)


def _echoed(outcome: Outcome, function: str) -> Finding | None:
    return _told_of(_first(outcome, "raised"), outcome, function)


def _told_of(rank: RankOutcome | None, outcome: Outcome, function: str) -> Finding | None:
    """The exception of one rank."""
    if rank is None or rank.reply is None or rank.reply.raised is None:
        return None
    raised = rank.reply.raised
    text = f": {raised.text}" if raised.text else ""
    mismatch = Mismatch(
        headline=f"{function} raised {raised.type} on rank {rank.rank}{text}",
        where=lines(raised.lines),
        ranks=of_all(outcome),
        hints=_meaning(raised) + (() if _cause(outcome) else _out_of_order(outcome)),
    )
    return Finding(Status.FAILED, mismatch)


def _meaning(raised: Raised) -> tuple[str, ...]:
    """What the exception means, if it is one that needs explaining."""
    said = f"{raised.type}: {raised.text}"
    return tuple(hint for pattern, hint in _MEANINGS if pattern.search(said))


def _not_attempted(outcome: Outcome, function: str) -> Finding | None:
    rank = _first(outcome, "not_attempted")
    if rank is None or rank.reply is None or rank.reply.raised is None:
        return None
    return Finding(Status.NOT_ATTEMPTED, Mismatch(headline=rank.reply.raised.text or "not attempted"))


def _busy(outcome: Outcome, function: str) -> Finding | None:
    rank = _first(outcome, End.BUSY)
    if rank is None:
        return None
    headline = f"rank {rank.rank} never came back from {function}: it computes without end"
    return Finding(Status.TIMEOUT, Mismatch(headline=headline, ranks=of_all(outcome), where=places(rank)))


def _stuck(outcome: Outcome, function: str) -> Finding | None:
    stuck = [rank for rank in outcome.ranks if rank.end is End.STUCK]
    if not stuck:
        return None
    where = tuple(dict.fromkeys(place for rank in stuck for place in places(rank)))
    headline = who_waits(stuck, outcome)
    return Finding(
        Status.TIMEOUT, Mismatch(headline=headline, ranks=of_all(outcome), where=where, hints=_out_of_order(outcome))
    )


def _left_over(outcome: Outcome, function: str) -> Finding | None:
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
    return Finding(
        Status.FAILED, Mismatch(headline=headline, hints=("the next call on this group would receive them",))
    )


def _unwaited(outcome: Outcome, function: str) -> Finding | None:
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
                return Finding(
                    Status.FAILED, Mismatch(headline=headline, where=(f"{op.file}:{op.line}",), hints=(hint,))
                )
    return None
