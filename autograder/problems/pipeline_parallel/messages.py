"""What the grader and rank.py say to each other: arguments and reply of each function there, and how tensors are named.

A rank outside of the group is told of the group alone, and is left with defaults for the rest.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from autograder.problems.common.rank_side.layers import Layer
from autograder.protocol.operation import Count


class SplitArguments(msgspec.Struct, frozen=True):
    """A call of split_layers."""

    layers: int
    stages: int


class SplitReply(msgspec.Struct, frozen=True):
    """Each entry's type and, of a range, start, stop and step; or the ValueError's text."""

    raised: str | None = None
    type: str = ""
    entries: list[tuple[str, list[Count]]] = []


class Cost(msgspec.Struct, frozen=True):
    """What a forward and a backward of a stage take, in virtual seconds: nothing on any but the simulated cluster."""

    forward: float = 0.0
    backward: float = 0.0


class StageArguments(msgspec.Struct, frozen=True):
    """A stage: its layers by number, the dtype of its parameters and of what it is given, and what it costs."""

    layers: dict[int, Layer] = {}
    dtype: str = "float32"
    cost: Cost = Cost()


class ForwardArguments(msgspec.Struct, frozen=True):
    """A call of pipeline_forward by the members of `group`, global ranks (None: the whole world).

    The first stage is given so many micro-batches as `inputs`, the others the shapes of `buffers` to receive into.
    """

    group: list[int] | None
    stage: StageArguments = StageArguments()
    inputs: int = 0
    buffers: list[tuple[int, ...]] = []


class ForwardedReply(msgspec.Struct, frozen=True):
    """The type of the result, and the stage's forwards."""

    type: str
    events: list[list[str]]


class TrainArguments(msgspec.Struct, frozen=True):
    """A Pipeline of the members of `group`, global ranks (None: the whole world), and a step for each of `batch_sizes`.

    `loss` is a name on the last stage, elsewhere None; `example` the shape of example_input, None on the first stage;
    `zero` says whether gradients are zeroed between steps.
    """

    group: list[int] | None
    stage: StageArguments = StageArguments()
    loss: str | None = None
    example: tuple[int, ...] | None = None
    num_micro_batches: int = 0
    schedule: str = ""
    batch_sizes: tuple[int, ...] = ()
    zero: bool = True


class LossReply(msgspec.Struct, frozen=True):
    """What one step returned."""

    type: str
    requires_grad: bool


class SteppedReply(msgspec.Struct, frozen=True):
    """Each step's loss, and its forwards and backwards in order."""

    losses: list[LossReply]
    events: list[list[str]]


class RefusedReply(msgspec.Struct, frozen=True):
    """The text of the ValueError, if there was one."""

    raised: str | None


# Tensors. A parameter is called by its layer's number, as in "2.weight".


def parameter_key(name: str) -> str:
    """A parameter of the stage."""
    return f"parameter/{name}"


def input_key(number: int) -> str:
    """What goes into the first stage: a micro-batch (before the call, and after it), or the batch of a step."""
    return f"input/{number}"


def target_key(step: int) -> str:
    """What the loss of a step compares with."""
    return f"target/{step}"


def output_key(number: int) -> str:
    """What came out of the last stage for a micro-batch."""
    return f"output/{number}"


def outputs_among(keys: Iterable[str]) -> int:
    """How many of the tensors are outputs."""
    return sum(key.startswith("output/") for key in keys)


def loss_key(step: int) -> str:
    """What a step returned."""
    return f"loss/{step}"


def grad_key(step: int, name: str) -> str:
    """A parameter's gradient after a step."""
    return f"{step}/grad/{name}"
