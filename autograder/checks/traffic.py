"""Right values that no message can have brought, and messages that nobody's own line has sent."""

from __future__ import annotations

from autograder.checks.finding import Mismatch
from autograder.cluster.outcome import Outcome, RankOutcome
from autograder.fabric.callsite import AUTOGRAD
from autograder.protocol.operation import Operation

BRINGS_NOTHING = ("send", "barrier")
FEWER = (
    "did something travel in a smaller dtype than its own (float64 as float32 loses digits), or was a part left out? "
    "What is known from elsewhere does not count: it has to arrive in messages of this call"
)
NOTHING = "what one rank knows of another has to arrive in messages of this call"


def received_bytes(rank: RankOutcome) -> int:
    """Bytes of the operations that can have brought this rank something."""
    return sum(op.nbytes for op in rank.operations if op.kind not in BRINGS_NOTHING)


def unexplained_values(outcome: Outcome, least: dict[int, int]) -> Mismatch | None:
    """The first rank whose record has fewer bytes than whatever algorithm needs there; `least` by global rank.

    Told as a question of data: an honest mistake has fewer bytes, too, where tolerances hide what it loses.
    """
    for number, needed in least.items():
        there = received_bytes(outcome.ranks[number])
        if there < needed:
            return Mismatch(
                headline=f"messages have brought rank {number} only {there} bytes, and the values that it ends with "
                f"take {needed}",
                hints=(FEWER,) if there else (NOTHING,),
            )
    return None


def operation_of_torchs_own(rank: RankOutcome) -> Operation | None:
    """The rank's first operation that torch began by itself: a backward of its own, or its reducer's."""
    return next((op for op in rank.operations if not op.file or op.api == AUTOGRAD), None)
