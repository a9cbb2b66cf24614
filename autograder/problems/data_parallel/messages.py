"""What the grader and rank.py say to each other: arguments and reply of each function there, and how tensors are named.

`group` are the global ranks of the members (None: the whole world).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from autograder.problems.common.rank_side.layers import Layer
from autograder.protocol.operation import Count

Begun = tuple[Count, Count, Count, Count]


class ShardArguments(msgspec.Struct, frozen=True):
    """A batch of `count` tensors, passed as one or as a tuple.

    `faults` are calls that must raise: a rank, and whether the tensor ODD, of another length, goes with the batch.
    """

    count: int
    as_tuple: bool
    faults: tuple[tuple[int, bool], ...]


class ShardReply(msgspec.Struct, frozen=True):
    """The type of the shard, and what each call that must raise raised."""

    type: str
    raised: list[str]


class BroadcastArguments(msgspec.Struct, frozen=True):
    """A call of broadcast_parameters on a model of these layers."""

    group: list[int] | None
    layers: tuple[Layer, ...]
    src: int


class AverageArguments(msgspec.Struct, frozen=True):
    """A call of `function`, average_gradients or average_gradients_flat, on a model of these layers."""

    group: list[int] | None
    layers: tuple[Layer, ...]
    function: str


class ReplacedReply(msgspec.Struct, frozen=True):
    """Names of parameters that are other objects now."""

    replaced: list[str]


class ForwardArguments(msgspec.Struct, frozen=True):
    """Calls of a wrapped model of these layers; `skipped` are the branches to leave out."""

    layers: tuple[Layer, ...]
    skipped: list[int]


class WrappedReply(msgspec.Struct, frozen=True):
    """How often the module's hook ran in each call; whether the module can still be reached."""

    hooks: tuple[Count, Count, Count]
    module: bool


class TrainArguments(msgspec.Struct, frozen=True, kw_only=True):
    """Steps of training a model of these layers in buckets of `cap` MB.

    `skipped` are the branches that this rank leaves out, `rows` how many rows the group's `ranks` have together, both
    by step and micro-batch. If `zeroed`, gradients are set to zero between steps, not to None. If `interrupted`, an
    exception leaves a no_sync() after the first step; if `nested`, each no_sync() has another one inside. On the
    simulated cluster backward takes `compute` seconds a layer.
    """

    group: list[int] | None
    layers: tuple[Layer, ...]
    cap: float
    optimizer: str
    skipped: list[list[list[int]]]
    rows: tuple[tuple[int, ...], ...]
    ranks: int
    zeroed: bool
    interrupted: bool
    nested: bool
    compute: float


class TrainedReply(ReplacedReply, frozen=True):
    """For each step, how many operations had begun at four moments, and its seconds.

    The moments are before it, before its last micro-batch, at the end of that one's backward, and at the step's end;
    the seconds are those from the first to the last.
    """

    begun: list[Begun]
    seconds: list[float]


# Tensors. A rank is given its batch or rows and targets, its model's state, and the gradients that it has.

ODD, ROWS = "odd", "rows"


def batch_key(number: int) -> str:
    """A tensor of the batch that is sharded, as it was given and as it is afterwards."""
    return f"batch/{number}"


def shard_key(number: int) -> str:
    """What the rank has of it."""
    return f"shard/{number}"


def shards_among(keys: Iterable[str]) -> int:
    """How many of the tensors are parts of a shard."""
    return sum(key.startswith("shard/") for key in keys)


def state_key(name: str) -> str:
    """A parameter or buffer before a call, and after it."""
    return f"state/{name}"


def grad_key(name: str) -> str:
    """A parameter's gradient before a call, and after it."""
    return f"grad/{name}"


def output_key(number: int) -> str:
    """What a call of the wrapped model returned."""
    return f"output/{number}"


def rows_key(step: int, micro: int) -> str:
    """The rank's rows of a micro-batch."""
    return f"rows/{step}/{micro}"


def target_key(step: int, micro: int) -> str:
    """Their targets."""
    return f"target/{step}/{micro}"


def start_key(name: str) -> str:
    """A parameter or buffer after the wrapping."""
    return f"start/{name}"


def synchronized_key(step: int, name: str) -> str:
    """A parameter's gradient in a step, as synchronised."""
    return f"grad/{step}/{name}"


def synchronized_among(keys: Iterable[str], step: int) -> Iterator[str]:
    """Names of the parameters that have a gradient in that step."""
    prefix = synchronized_key(step, "")
    return (key.removeprefix(prefix) for key in keys if key.startswith(prefix))


def parameter_key(step: int, name: str) -> str:
    """A parameter after a step."""
    return f"parameter/{step}/{name}"


def marked_key(number: int) -> str:
    """A buffer that the rank has marked as its own after the wrapping, as it is in the end."""
    return f"marked/{number}"
