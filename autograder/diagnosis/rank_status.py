"""Where the ranks of an example were when it ended, in words: who waits for whom, who does what, and at which line."""

from __future__ import annotations

import re

from autograder.checks.finding import RankView
from autograder.cluster.outcome import End, Outcome, RankOutcome
from autograder.protocol.operation import SourceLine
from autograder.protocol.status_board import RUNNING, RankActivity
from autograder.simulator.endpoint import SimulationError
from autograder.system.process import signal_name

# What a rank raises because another one died: never the cause.
_ECHO = re.compile(r"Connection (closed|reset) by peer|Broken pipe|peer rank|Socket closed", re.IGNORECASE)


def who_waits(stuck: list[RankOutcome], outcome: Outcome) -> str:
    """One sentence: a circle of ranks, a rank that waits for one that has gone, or the plain list."""
    waits = {rank.rank: rank.pending for rank in stuck if rank.pending}
    circle = _circle({rank: pending.peer for rank, pending in waits.items()})
    if circle:
        chain = ", ".join(f"rank {r} in {operation(waits[r])}" for r in circle)
        return f"deadlock: {'each waits for the next' if len(circle) > 1 else 'it waits for itself'}: {chain}"
    for rank, pending in waits.items():
        peer = pending.peer
        if 0 <= peer < len(outcome.ranks) and outcome.ranks[peer].end is not End.STUCK:
            return f"{_blocked(rank, pending)}: rank {peer} has already returned"
        members = pending.members if peer < 0 else ()
        gone = next((r.rank for r in outcome.ranks if r.rank in members and r.status == "returned"), None)
        if gone is not None:
            return f"{_blocked(rank, pending)}: rank {gone} has already returned"
    asleep = next((rank for rank in stuck if rank.rank not in waits), None)
    if asleep is not None:
        return f"rank {asleep.rank} never came back: it sleeps outside of any operation"
    rank, pending = next(iter(waits.items()))
    return _blocked(rank, pending)


def _blocked(rank: int, pending: RankActivity) -> str:
    return f"rank {rank} is blocked in {operation(pending)} and will never return"


def _circle(peers: dict[int, int]) -> list[int]:
    """Ranks that wait for one another all around, if there are such."""
    for start in peers:
        path = [start]
        while (following := peers.get(path[-1], -1)) not in path and following in peers:
            path.append(following)
        if following in path:
            return path[path.index(following) :]
    return []


def of_all(outcome: Outcome) -> tuple[RankView, ...]:
    """One row per rank: how far it came. Ranks that were stopped by another one's failure are not marked as wrong."""
    failed = [rank for rank in outcome.ranks if rank.status != "returned"]
    stopped = [rank.rank for rank in failed if is_echo(rank, outcome)]
    if len(stopped) == len(failed):
        stopped = []  # nobody else is to blame
    return tuple(
        RankView(rank=rank.rank, note="was stopped: another rank had failed")
        if rank.rank in stopped
        else RankView(rank=rank.rank, note=rank_status(rank), wrong=rank.status != "returned")
        for rank in outcome.ranks
    )


def is_echo(rank: RankOutcome, outcome: Outcome) -> bool:
    """Whether the rank raised only because of what had gone wrong elsewhere."""
    raised = rank.reply.raised if rank.reply is not None and rank.status == "raised" else None
    if raised is None:
        return False
    by_the_switch = outcome.verdict is not None and raised.type == SimulationError.__name__
    return by_the_switch or bool(_ECHO.search(raised.text))


def rank_status(rank: RankOutcome) -> str:
    """How far one rank came."""
    if rank.status == "returned":
        return "returned"
    if rank.reply is not None:
        raised = rank.reply.raised
        return f"raised {raised.type}" if raised else rank.reply.status
    if rank.end is End.DIED:
        return f"ended {end(rank.exit_status).partition(':')[0]}"
    if rank.pending is not None:
        return f"waits in {operation(rank.pending)}"
    if rank.activity is not None and rank.activity.state == RUNNING:
        at = places(rank)
        return f"is in {at[-1]}" if at else "is in the middle of the call"
    return str(rank.end)


def operation(pending: RankActivity) -> str:
    """recv from rank 2 (collectives.py:41)."""
    link = {"send": " to", "recv": " from"}.get(pending.kind)
    peer = "" if link is None else f"{link} rank {pending.peer}" if pending.peer >= 0 else f"{link} any rank"
    place = f" ({pending.file}:{pending.line})" if pending.file else ""
    return f"{pending.kind}{peer}{place}"


def last_operation(rank: RankOutcome) -> str:
    """The last operation that a dead rank began, as an ending of a sentence."""
    return f"; its last operation: {operation(rank.pending)}" if rank.pending is not None else ""


def end(status: int | None) -> str:
    """How a process ended, after "ended"."""
    if status is None:
        return "without a trace"
    if status >= 0:
        return f"with exit status {status}: a function must return, not leave the process"
    return f"by signal {signal_name(-status)}"


def places(rank: RankOutcome) -> tuple[str, ...]:
    """The submission's lines that the rank was in, the innermost last."""
    if rank.stack:
        return lines(rank.stack[-3:])
    pending = rank.pending
    if pending is not None and pending.file:
        return lines((SourceLine(pending.file, pending.line, pending.function),))
    return ()


def lines(source: tuple[SourceLine, ...]) -> tuple[str, ...]:
    """collectives.py:41, in all_reduce: dist.recv(buffer, left)"""
    return tuple(
        f"{line.file}:{line.line}"
        + (f", in {line.function}" if line.function else "")
        + (f": {line.text}" if line.text else "")
        for line in source
    )
