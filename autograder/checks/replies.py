"""Reads what a rank hands back besides tensors; a rank is not to be trusted: what is no reply of rank.py's is refused.

reply = read(rank, Trained, begun=2, seconds=2)
"""

from __future__ import annotations

from typing import TypeVar

import msgspec

from autograder.cluster.outcome import RankOutcome
from autograder.protocol.reply import NOTHING

Replied = TypeVar("Replied", bound=msgspec.Struct)


class Unreadable(Exception):
    """A rank answered what no rank.py answers."""

    def __init__(self, rank: RankOutcome) -> None:
        super().__init__(f"rank {rank.rank}'s reply is none that the grader's own code makes")


def read(rank: RankOutcome, kind: type[Replied], **lengths: int) -> Replied:
    """What the rank answered; raises Unreadable unless it is a `kind` whose lists are as long as given, by name."""
    try:
        reply = msgspec.json.decode(rank.reply.value if rank.reply else NOTHING, type=kind)
    except (msgspec.MsgspecError, RecursionError):
        raise Unreadable(rank) from None
    if any(len(getattr(reply, name)) != length for name, length in lengths.items()):
        raise Unreadable(rank)
    return reply
