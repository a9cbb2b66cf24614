"""What rank.py hands back besides tensors, one struct for each of its functions; the judges read the same structs."""

from __future__ import annotations

import msgspec

from autograder.protocol.operation import Count


class SplitReply(msgspec.Struct):
    """pipeline_parallel.split: each entry's type and, of a range, start, stop and step; or the ValueError's text."""

    raised: str | None = None
    type: str = ""
    entries: list[tuple[str, list[Count]]] = []


class ForwardedReply(msgspec.Struct):
    """pipeline_parallel.forward: the type of the result, and the stage's forwards."""

    type: str
    events: list[list[str]]


class LossReply(msgspec.Struct):
    """What one step returned."""

    type: str
    requires_grad: bool


class SteppedReply(msgspec.Struct):
    """pipeline_parallel.train: each step's loss, and its forwards and backwards in order."""

    losses: list[LossReply]
    events: list[list[str]]


class RefusedReply(msgspec.Struct):
    """pipeline_parallel.refuse: the text of the ValueError, if there was one."""

    raised: str | None
