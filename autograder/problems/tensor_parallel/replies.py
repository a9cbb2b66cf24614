"""What rank.py hands back besides tensors, one struct for each of its functions; the judges read the same structs."""

from __future__ import annotations

import msgspec

from autograder.protocol.operation import Count


class BothWaysReply(msgspec.Struct):
    """tensor_parallel.function and module: operations forward and backward, shapes of parameters.

    A module with other parameters than its share says nothing but their shapes.
    """

    forward: Count = 0
    backward: Count = 0
    refuses: bool = False
    parameters: dict[str, list[Count]] = {}


class StartedReply(msgspec.Struct):
    """tensor_parallel.start: of two layers the shapes of their parameters and the elements that they keep."""

    parameters: tuple[dict[str, list[Count]], dict[str, list[Count]]]
    kept: tuple[Count, Count]
    largest: Count
    refuses: bool = False
