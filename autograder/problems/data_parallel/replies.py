"""What rank.py hands back besides tensors, one struct for each of its functions; the judges read the same structs."""

from __future__ import annotations

import msgspec

from autograder.protocol.operation import Count

Begun = tuple[Count, Count, Count, Count]


class ShardReply(msgspec.Struct):
    """data_parallel.shard: the type of the shard, and what each call that must raise raised."""

    type: str
    raised: list[str]


class ReplacedReply(msgspec.Struct):
    """data_parallel.broadcast and average: names of parameters that are other objects now."""

    replaced: list[str]


class WrappedReply(msgspec.Struct):
    """data_parallel.forward: how often the module's hook ran in each call; whether the module can still be reached."""

    hooks: tuple[Count, Count, Count]
    module: bool


class TrainedReply(ReplacedReply):
    """data_parallel.train: for each step, how many operations had begun at four moments, and its seconds."""

    begun: list[Begun]
    seconds: list[float]
