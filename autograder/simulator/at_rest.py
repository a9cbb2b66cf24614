"""What is wrong when no rank of an example runs and nothing is under way, and what each rank was doing."""

from collections.abc import Mapping, Sequence

from autograder.simulator import verdict
from autograder.simulator.operation import Group, Operation
from autograder.simulator.rank_state import BLOCKED, DEAD, FINISHED, Rank
from autograder.simulator.verdict import RankLine, Verdict

# The calls of a group's collective, by its number and then by rank.
Calls = Mapping[tuple[Group, int], Mapping[int, Operation]]


def judge(ranks: Sequence[Rank], calls: Calls) -> Verdict | None:
    """The verdict on ranks of which none runs; None if nothing is amiss, or a rank has said itself why it has ended."""
    blocked = {
        number: rank.waiting for number, rank in enumerate(ranks) if rank.state == BLOCKED and rank.waiting is not None
    }
    gone = {number: rank.how or "has returned" for number, rank in enumerate(ranks) if rank.state == FINISHED}
    if blocked:
        waits_for = {number: _awaited(operation, gone, calls) for number, operation in blocked.items()}
        return verdict.stuck(blocked, waits_for, gone, lines(ranks), _hint(list(blocked.values())))
    if any(rank.how for rank in ranks):
        return None
    everything = [operation for rank in ranks for operation in rank.operations]
    open_ends = [o for o in everything if (o.partner is None if o.is_message else o.end is None)]
    if open_ends:
        return verdict.left_over(open_ends)
    forgotten = [operation for operation in everything if operation.waited is None]
    return verdict.unwaited(forgotten) if forgotten else None


def of_death(ranks: Sequence[Rank], number: int) -> Verdict:
    """The verdict on a rank whose process has ended."""
    rank = ranks[number]
    where = ""
    if rank.waiting is not None:
        where = f" in its {rank.waiting}"
    elif rank.operations:
        where = f" after its {rank.operations[-1]}"
    return Verdict(verdict.DIED, f"Rank {number} {rank.how}{where}.", (number,), lines(ranks))


def lines(ranks: Sequence[Rank]) -> tuple[RankLine, ...]:
    """What each rank is doing at this moment."""
    return tuple(_line(number, rank) for number, rank in enumerate(ranks))


def _awaited(operation: Operation, gone: Mapping[int, str], calls: Calls) -> tuple[int, ...]:
    """The ranks that could let this operation go on."""
    if operation.is_message and operation.peer >= 0:
        return (operation.peer,)
    if operation.is_message:
        others = [rank for rank in operation.group.ranks if rank != operation.rank]
        return tuple(rank for rank in others if rank not in gone) or tuple(others)
    called = calls.get((operation.group, operation.sequence), {})
    return tuple(rank for rank in operation.group.ranks if rank not in called)


def _line(number: int, rank: Rank) -> RankLine:
    """What a rank is doing at this moment."""
    last = rank.operations[-1] if rank.operations else None
    if rank.state in (BLOCKED, DEAD) and rank.waiting is not None:
        verb = "waits in" if rank.state == BLOCKED else f"{rank.how} in"
        return verdict.line(rank.waiting, f"{verb} {rank.waiting}")
    how = {FINISHED: rank.how or "has returned", DEAD: rank.how}.get(rank.state, "is running")
    if last is None:
        return RankLine(number, f"{how}, without any operation")
    return verdict.line(last, f"{how}; its last operation was {last}")


def _hint(blocked: list[Operation]) -> str:
    """A sentence on what would help, or ""."""
    for send in blocked:
        for recv in blocked:
            is_pair = (send.kind, recv.kind) == ("send", "recv") and (send.peer, recv.peer) == (recv.rank, send.rank)
            if is_pair and send.tag != recv.tag:
                return f" Rank {send.rank} sends with tag {send.tag}, rank {recv.rank} receives with tag {recv.tag}."
            if is_pair and send.group != recv.group:
                return f" Rank {send.rank} sends and rank {recv.rank} receives, but in different groups."
    if len(blocked) > 1 and all(operation.kind == "send" for operation in blocked):
        return " All of them send and none receives: a blocking send waits for its recv."
    if len(blocked) > 1 and all(operation.kind == "recv" for operation in blocked):
        return " All of them receive and none sends."
    if any(operation.is_message for operation in blocked) and not all(operation.is_message for operation in blocked):
        return " Some ranks are in a collective and others are not."
    return ""
