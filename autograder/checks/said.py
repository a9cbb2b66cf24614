"""What a driver says of an example besides its tensors. A rank is not to be trusted: whatever else it says is no reply.

One struct for each function of autograder/drivers that says something; what it says on ranks outside of the group is
nobody's business.

    words = said.by(rank, said.Trained, begun=2, seconds=2)
"""

from __future__ import annotations

from typing import TypeVar

import msgspec

from autograder.cluster.outcome import RankOutcome
from autograder.protocol.operation import Count

Begun = tuple[Count, Count, Count, Count]
Row = tuple[str, str, str, str]


class Figures(msgspec.Struct):
    """bandwidth.figures: the text of each number, or of each of several; whether what must be refused was."""

    results: list[str | list[str]]
    refuses: list[bool]


class Table(msgspec.Struct):
    """bandwidth.table: the text, and the type of what is none."""

    text: str | None
    type: str


class Timing(msgspec.Struct):
    """bandwidth.timing: the text of the number of seconds, and how often the collective was called."""

    seconds: str
    calls: Count


class Rows(msgspec.Struct):
    """bandwidth.rows: the texts of the four numbers of each row; whether each unknown collective was refused."""

    rows: list[Row]
    refuses: list[bool]


class Shard(msgspec.Struct):
    """data_parallel.shard: the type of the shard, and what each call that must raise raised."""

    type: str
    raised: list[str]


class Replaced(msgspec.Struct):
    """data_parallel.broadcast and average: names of parameters that are other objects now."""

    replaced: list[str]


class Wrapped(msgspec.Struct):
    """data_parallel.forward: how often the module's hook ran in each call; whether the module can still be reached."""

    hooks: tuple[Count, Count, Count]
    module: bool


class Trained(Replaced):
    """data_parallel.train: for each step, how many operations had begun at four moments, and its seconds."""

    begun: list[Begun]
    seconds: list[float]


class BothWays(msgspec.Struct):
    """tensor_parallel.function and module: operations forward and backward, shapes of parameters.

    A module with other parameters than its share says nothing but their shapes.
    """

    forward: Count = 0
    backward: Count = 0
    refuses: bool = False
    parameters: dict[str, list[Count]] = {}


class Started(msgspec.Struct):
    """tensor_parallel.start: of two layers the shapes of their parameters and the elements that they keep."""

    parameters: tuple[dict[str, list[Count]], dict[str, list[Count]]]
    kept: tuple[Count, Count]
    largest: Count
    refuses: bool = False


class Split(msgspec.Struct):
    """pipeline_parallel.split: each entry's type and, of a range, start, stop and step; or the ValueError's text."""

    raised: str | None = None
    type: str = ""
    entries: list[tuple[str, list[Count]]] = []


class Forwarded(msgspec.Struct):
    """pipeline_parallel.forward: the type of the result, and the stage's forwards."""

    type: str
    events: list[list[str]]


class Loss(msgspec.Struct):
    """What one step returned."""

    type: str
    requires_grad: bool


class Stepped(msgspec.Struct):
    """pipeline_parallel.train: each step's loss, and its forwards and backwards in order."""

    losses: list[Loss]
    events: list[list[str]]


class Refused(msgspec.Struct):
    """pipeline_parallel.refuse: the text of the ValueError, if there was one."""

    raised: str | None


Said = TypeVar("Said", bound=msgspec.Struct)


class Unreadable(Exception):
    """A rank said what no driver says."""

    def __init__(self, rank: RankOutcome) -> None:
        super().__init__(f"rank {rank.rank}'s reply is none that the grader's own code makes")


def by(rank: RankOutcome, kind: type[Said], **lengths: int) -> Said:
    """What the rank said; raises Unreadable unless it is a `kind` whose lists are as long as given, by name."""
    try:
        words = msgspec.convert(rank.value, kind)
    except msgspec.ValidationError:
        raise Unreadable(rank) from None
    if any(len(getattr(words, name)) != length for name, length in lengths.items()):
        raise Unreadable(rank)
    return words
