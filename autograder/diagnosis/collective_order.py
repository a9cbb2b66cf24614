"""Compares the collectives that the ranks of a group called: they have to be the same, in the same order and size."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from autograder.cluster.outcome import Outcome, RankOutcome
from autograder.protocol.operation import Operation
from autograder.protocol.status_board import RankActivity

# Of these each rank passes a size of its own.
OWN_SIZES = ("all_to_all", "gather", "scatter")
POINT_TO_POINT = ("send", "recv")


class Called(NamedTuple):
    """A rank's nth call of one collective on one group."""

    nbytes: int
    place: str


Kind = tuple[str, tuple[int, ...]]


def disagreement(outcome: Outcome) -> str:
    """The first call that ranks of a group do not agree about, as a sentence; "" if the records show none.

    Of a rank that did not reply only its last call is known, and nothing of those that it will not come to.
    """
    calls = [_calls(rank) for rank in outcome.ranks]
    for kind in dict.fromkeys(kind for called in calls for kind in called):
        members = [rank for rank in kind[1] if 0 <= rank < len(outcome.ranks)]
        told = members and (_sizes(kind, members, calls) or _counts(kind, members, calls, outcome))
        if told:
            return told
    return ""


def _calls(rank: RankOutcome) -> dict[Kind, dict[int, Called]]:
    """A rank's calls, by collective and group, then by number."""
    calls: dict[Kind, dict[int, Called]] = {}
    if rank.reply is not None:
        for op in rank.operations:
            if op.kind not in POINT_TO_POINT:
                numbered = calls.setdefault((op.kind, op.group), {})
                numbered[len(numbered) + 1] = Called(op.nbytes, f"{op.file}:{op.line}")
        return calls
    last = rank.pending
    if last is not None and last.members and last.kind not in POINT_TO_POINT:
        calls[last.kind, last.members] = {last.nth: Called(last.nbytes, f"{last.file}:{last.line}")}
    return calls


def _sizes(kind: Kind, members: list[int], calls: list[dict[Kind, dict[int, Called]]]) -> str:
    name = kind[0]
    if name in OWN_SIZES:
        return ""
    numbers = sorted({number for rank in members for number in calls[rank].get(kind, {})})
    for number in numbers:
        here = {rank: calls[rank][kind][number] for rank in members if number in calls[rank].get(kind, {})}
        first = min(here)
        for rank, called in here.items():
            if called.nbytes != here[first].nbytes:
                return (
                    f"rank {first}'s {ordinal(number)} {name} has {here[first].nbytes} bytes ({here[first].place}), "
                    f"rank {rank}'s has {called.nbytes} ({called.place})"
                )
    return ""


def _counts(kind: Kind, members: list[int], calls: list[dict[Kind, dict[int, Called]]], outcome: Outcome) -> str:
    """Whether a rank returned without a call that another one made."""
    most = {rank: max(calls[rank].get(kind, {0: None})) for rank in members}
    leader = max(most, key=lambda rank: (most[rank], -rank))
    for rank in members:
        if outcome.ranks[rank].status == "returned" and most[rank] < most[leader]:
            place = calls[leader][kind][most[leader]].place
            return f"rank {leader} calls {kind[0]} a {ordinal(most[leader])} time ({place}), rank {rank} never does"
    return ""


def outside(outcome: Outcome, group_of: Callable[[int], tuple[int, ...]]) -> str:
    """The first message between a rank and one outside of its group, as a sentence; "" if there is none."""
    for rank in outcome.ranks:
        group = group_of(rank.rank)
        seen: list[Operation | RankActivity] = [*rank.operations, *([rank.pending] if rank.pending else [])]
        for op in seen:
            if op.kind in POINT_TO_POINT and op.peer >= 0 and group and op.peer not in group:
                link = "to" if op.kind == "send" else "from"
                return (
                    f"rank {rank.rank}'s {op.kind} {link} rank {op.peer} ({op.file}:{op.line}) leaves the group "
                    f"{list(group)}: pass group, and number its ranks as group_src and group_dst, or translate them "
                    "with dist.get_global_rank"
                )
    return ""


def ordinal(number: int) -> str:
    """1st, 2nd, 3rd, 4th ..."""
    suffix = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{suffix}"
