"""What the switch has to say when something is wrong, in words for the student."""

from collections.abc import Mapping
from dataclasses import dataclass

from autograder.simulator.operation import Operation

# The kinds of verdicts.
DEADLOCK = "deadlock"  # nobody can go on
ENDED_EARLY = "ended_early"  # a rank has returned while others wait for it
DIED = "died"  # a rank's process has ended
MISMATCH = "mismatch"  # a send and its recv disagree
COLLECTIVE_MISMATCH = "collective_mismatch"  # members of a group call different collectives
IN_FLIGHT = "in_flight"  # a buffer touched between the call and its wait
UNWAITED = "unwaited"  # a work handle that nobody waited for
LEFT_OVER = "left_over"  # messages or receives without a partner at the end
SELF = "self"  # an operation with itself
MALFORMED = "malformed"  # a rank that sends what is no message


@dataclass(frozen=True)
class RankLine:
    """What one rank was doing. `operation` is "" where it is in none; `peer` is -1 for anyone or everyone."""

    rank: int
    text: str
    operation: str = ""
    peer: int = -1
    file: str = ""
    line: int = 0


@dataclass(frozen=True)
class Verdict:
    """One mistake: its kind (above), what is wrong in plain words, whose it is, and what each rank was doing."""

    kind: str
    summary: str
    ranks: tuple[int, ...]
    lines: tuple[RankLine, ...]

    def __str__(self) -> str:
        return "\n".join([self.summary, *(f"  rank {line.rank}: {line.text}" for line in self.lines)])


def line(operation: Operation, text: str) -> RankLine:
    """A rank's line about one of its operations."""
    place = operation.place
    return RankLine(operation.rank, text, place.api or operation.kind, operation.peer, place.file, place.line)


def ranks_in_words(ranks: list[int] | tuple[int, ...]) -> str:
    """ "rank 1", "ranks 1 and 2", "ranks 0, 1 and 2"."""
    names = [str(rank) for rank in ranks]
    if len(names) == 1:
        return f"rank {names[0]}"
    return f"ranks {', '.join(names[:-1])} and {names[-1]}"


def mismatch(send: Operation, recv: Operation) -> Verdict | None:
    """A message that does not fit the buffer it is received into; None if it does."""
    (sent,), (wanted,) = send.sizes_in, recv.sizes_out
    if send.dtype == recv.dtype and sent == wanted:
        return None
    if send.dtype != recv.dtype:
        what = f"{send.dtype}, but rank {recv.rank} receives it as {recv.dtype}"
    else:
        what = f"{sent} elements, but rank {recv.rank} receives it into a buffer of {wanted}"
    summary = f"The message from rank {send.rank} to rank {recv.rank} is {what}."
    lines = line(send, f"{send}: {sent} x {send.dtype}"), line(recv, f"{recv}: {wanted} x {recv.dtype}")
    return Verdict(MISMATCH, summary, (send.rank, recv.rank), lines)


def collective_mismatch(first: Operation, second: Operation, what: str) -> Verdict:
    """Two members of a group whose calls do not belong together."""
    summary = (
        f"Rank {first.rank} and rank {second.rank} are each in their collective number {first.sequence + 1} of the "
        f"same group, but differ in {what}. Every member has to call the same collectives in the same order."
    )
    lines = tuple(line(call, f"{call}: {_call(call)}") for call in sorted((first, second), key=lambda call: call.rank))
    return Verdict(COLLECTIVE_MISMATCH, summary, tuple(call.rank for call in (first, second)), lines)


def _call(call: Operation) -> str:
    facts = [call.kind, *(f"root {call.peer}" for _ in range(call.peer >= 0)), *filter(None, (call.op, call.dtype))]
    for name, sizes in (("in", call.sizes_in), ("out", call.sizes_out)):
        if sizes:
            facts.append(f"{name} {'+'.join(map(str, sizes))} elements")
    return ", ".join(facts)


def left_over(operations: list[Operation]) -> Verdict:
    """Sends that nobody received and receives that nobody sent to, at the end."""
    first = operations[0]
    if first.kind == "send":
        summary = f"A message from rank {first.rank} to rank {first.peer} was never received: {first}."
    elif first.kind == "recv":
        sender = "anyone" if first.peer < 0 else f"rank {first.peer}"
        summary = f"Rank {first.rank} waits for a message from {sender} that was never sent: {first}."
    else:
        summary = f"Rank {first.rank} called {first}, and not all other ranks of the group did."
    return _about(LEFT_OVER, summary, operations, "has no partner")


def unwaited(operations: list[Operation]) -> Verdict:
    """Work handles that were never waited for."""
    first = operations[0]
    summary = (
        f"Rank {first.rank} never waits for its {first}: "
        "until wait() has returned, the operation need not have happened."
    )
    return _about(UNWAITED, summary, operations, "is never waited for")


def _about(kind: str, summary: str, operations: list[Operation], what: str) -> Verdict:
    ranks = tuple(sorted({operation.rank for operation in operations}))
    return Verdict(kind, summary, ranks, tuple(line(operation, f"{operation} {what}") for operation in operations[:32]))


def stuck(
    blocked: Mapping[int, Operation],
    waits_for: Mapping[int, tuple[int, ...]],
    gone: Mapping[int, str],
    states: tuple[RankLine, ...],
    hint: str,
) -> Verdict:
    """Nobody can go on.

    `blocked` are the operations that ranks wait in, `waits_for` the ranks each of them waits for, `gone` how the ranks
    that are no longer there ended, `states` a line for each rank.
    """
    culprits = [rank for rank in gone if any(rank in ranks for ranks in waits_for.values())]
    if culprits:
        culprit = culprits[0]
        waiting = [rank for rank, ranks in waits_for.items() if culprit in ranks]
        verb = "waits" if len(waiting) == 1 else "wait"
        summary = f"{_start(waiting)} {verb} for rank {culprit}, which {gone[culprit]}.{hint}"
        return Verdict(ENDED_EARLY, summary, (culprit,), states)
    cycle = _cycle(waits_for)
    if len(cycle) == 1:
        summary = f"Deadlock: {ranks_in_words(sorted(blocked))} cannot go on.{hint}"
    else:
        arrows = ", ".join(f"rank {a} waits for rank {b}" for a, b in zip(cycle, cycle[1:] + cycle[:1], strict=True))
        summary = f"Deadlock: {arrows}.{hint}"
    return Verdict(DEADLOCK, summary, tuple(sorted(cycle)), states)


def _start(ranks: list[int]) -> str:
    words = ranks_in_words(ranks)
    return words[0].upper() + words[1:]


def _cycle(waits_for: Mapping[int, tuple[int, ...]]) -> list[int]:
    """A cycle of the graph, from its lowest rank on; every rank waits for at least one other that waits."""
    path: list[int] = []
    rank = min(waits_for)
    while rank not in path:
        path.append(rank)
        rank = min(waits_for[rank], default=rank)
    cycle = path[path.index(rank) :]
    lowest = cycle.index(min(cycle))
    return cycle[lowest:] + cycle[:lowest]
