"""Reads what a rank hands back besides tensors. A rank is not to be trusted: whatever is no reply of rank.py's is refused.

reply = read(rank, Trained, begun=2, seconds=2)
"""

from __future__ import annotations

from typing import TypeVar

import msgspec

from autograder.cluster.outcome import RankOutcome

Said = TypeVar("Said", bound=msgspec.Struct)


class Unreadable(Exception):
    """A rank said what no driver says."""

    def __init__(self, rank: RankOutcome) -> None:
        super().__init__(f"rank {rank.rank}'s reply is none that the grader's own code makes")


def read(rank: RankOutcome, kind: type[Said], **lengths: int) -> Said:
    """What the rank said; raises Unreadable unless it is a `kind` whose lists are as long as given, by name."""
    try:
        words = msgspec.convert(rank.value, kind)
    except msgspec.ValidationError:
        raise Unreadable(rank) from None
    if any(len(getattr(words, name)) != length for name, length in lengths.items()):
        raise Unreadable(rank)
    return words
