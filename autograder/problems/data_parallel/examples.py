"""Examples of problem 3's functions: batches to shard, states to broadcast, gradients to average."""

from __future__ import annotations

import dataclasses
import functools
import math

import numpy as np
import torch
from hypothesis import strategies as st

from autograder.checks.example import Call, Description
from autograder.checks.show import show, show_dtype
from autograder.problems.data_parallel.messages import (
    ODD,
    AverageArguments,
    BroadcastArguments,
    ShardArguments,
    batch_key,
    grad_key,
    state_key,
)
from autograder.problems.data_parallel.replicas import DrawnLayers, Replicas, Tensors, fill, keyed


@dataclasses.dataclass(frozen=True)
class Shards:
    """A batch of `rows` rows, given to shard_batch on every rank, and the calls that it must refuse.

    It is a tuple of so many tensors, or one tensor (0).
    """

    world_size: int
    rows: int
    shape: tuple[int, ...] = ()
    dtype: torch.dtype = torch.int64
    tuple_of: int = 0

    @functools.cached_property
    def batch(self) -> list[torch.Tensor]:
        """The inputs, whose tens are the row, and for a tuple targets and weights."""
        numbers = np.arange(self.rows * math.prod(self.shape)).reshape(self.rows, *self.shape)
        tens = 10 * np.arange(self.rows).reshape(self.rows, *[1] * len(self.shape))
        inputs = torch.from_numpy(np.asarray(tens + numbers % 10)).to(self.dtype)
        targets = torch.arange(self.rows, dtype=torch.int64) + 100
        return [inputs, targets, targets / 8][: max(1, self.tuple_of)]

    @property
    def faults(self) -> tuple[tuple[int, bool], ...]:
        """Calls that must raise ValueError: the rank, and whether the tuple's lengths differ."""
        return (self.world_size, False), (-1, False), (0, True)

    def call(self) -> Call:
        """Every rank is given the whole batch."""
        arguments = ShardArguments(len(self.batch), bool(self.tuple_of), self.faults)
        tensors = {batch_key(i): tensor for i, tensor in enumerate(self.batch)}
        tensors[ODD] = torch.zeros(self.rows + 1)
        return Call("shard", (arguments,) * self.world_size, (tensors,) * self.world_size)

    def describe(self) -> Description:
        """The call in a student's words."""
        batch = ("batch", "(inputs,)", "(inputs, targets)", "(inputs, targets, weights)")[self.tuple_of]
        call = f"shard_batch({batch}, rank, world_size={self.world_size})"
        setting = f"{self.rows} rows, shape {(self.rows, *self.shape)}, {show_dtype(self.dtype)}"
        return Description(
            call, setting, tuple(f"rank={rank}, {show(self.batch[0])}" for rank in range(self.world_size))
        )


@dataclasses.dataclass(frozen=True, kw_only=True)
class Broadcast(Replicas):
    """A call of broadcast_parameters; `root` is a position in the group."""

    root: int = 0

    def call(self) -> Call:
        """Each member is given its state, and gradients that must stay."""
        arguments = BroadcastArguments(self.group, self.layers, self.ranks[self.root])
        tensors = [
            keyed(state_key, self.states[member]) | keyed(grad_key, self.gradients(member))
            for member in range(self.size)
        ]
        return self.asked("broadcast", (arguments,) * self.world_size, tensors)

    def gradients(self, member: int) -> Tensors:
        """A gradient for every other parameter."""
        names = [name for name, _ in self.model.named_parameters()]
        own = self.states[member]
        return {name: -own[name] for name in names[::2]}

    def describe(self) -> Description:
        """The call in a student's words."""
        return self.description(f"broadcast_parameters(module, src={self.ranks[self.root]}{self.shown_group})")


@dataclasses.dataclass(frozen=True, kw_only=True)
class Averaging(Replicas):
    """A call of average_gradients or average_gradients_flat on given gradients.

    `missing` are those that are None: pairs of a member and the number of a parameter. Frozen parameters have a
    gradient if `frozen_too`. With `counting`, gradients are small whole numbers: the tens tell the member.
    `overflow` is what one element of the last member's first gradient is: "inf", "-inf" or "nan" ("": a number).
    """

    function: str
    missing: frozenset[tuple[int, int]] = frozenset()
    frozen_too: bool = False
    counting: bool = False
    overflow: str = ""

    @functools.cached_property
    def gradients(self) -> list[Tensors]:
        """The gradients before the call, by member; what is missing is not in there."""
        named = list(self.model.named_parameters())
        return [
            {
                name: self._gradient(tuple(parameter.shape), parameter.dtype, member, number)
                for number, (name, parameter) in enumerate(named)
                if (parameter.requires_grad or self.frozen_too) and (member, number) not in self.missing
            }
            for member in range(self.size)
        ]

    def _gradient(self, shape: tuple[int, ...], dtype: torch.dtype, member: int, number: int) -> torch.Tensor:
        if self.counting:
            flat = torch.from_numpy(10.0 * (member + 1) + np.arange(math.prod(shape)) % 10 + number).to(dtype)
        else:
            flat = fill(shape, dtype, (self.seed, member, number, 1)).flatten()
        if self.overflow and number == 0 and member == self.size - 1:
            flat[self.seed % flat.numel()] = float(self.overflow)
        return flat.reshape(shape)

    def call(self) -> Call:
        """Each member is given its state and its gradients."""
        arguments = AverageArguments(self.group, self.layers, self.function)
        tensors = [
            keyed(state_key, own) | keyed(grad_key, gradients)
            for own, gradients in zip(self.states, self.gradients, strict=True)
        ]
        return self.asked("average", (arguments,) * self.world_size, tensors)

    def describe(self) -> Description:
        """The call in a student's words."""
        names = [name for name, _ in self.model.named_parameters()]
        given = {
            member: "without a gradient: " + ", ".join(names[n] for m, n in sorted(self.missing) if m == member)
            for member in {m for m, _ in self.missing}
        }
        return self.description(f"{self.function}(module{self.shown_group})", given=given)


Members = st.SearchStrategy[tuple[int, ...] | None]


@st.composite
def broadcasts(draw: st.DrawFn, world_size: int, drawn_layers: DrawnLayers, members: Members) -> Broadcast:
    """Calls of broadcast_parameters, from any member."""
    group = draw(members)
    root = draw(st.integers(0, len(group or range(world_size)) - 1))
    return Broadcast(
        world_size=world_size, layers=draw(drawn_layers), members=group, seed=draw(st.integers(0, 999)), root=root
    )


@st.composite
def averagings(
    draw: st.DrawFn,
    function: str,
    world_size: int,
    drawn_layers: DrawnLayers,
    members: Members,
    some_missing: bool = False,
    overflows: bool = False,
) -> Averaging:
    """Calls of `function`; with `some_missing`, some gradients are None, on some ranks or all, frozen ones exist.

    With `overflows`, one element of one member's is not finite.
    """
    example = Averaging(
        function=function,
        world_size=world_size,
        layers=draw(drawn_layers),
        members=draw(members),
        seed=draw(st.integers(0, 999)),
        counting=draw(st.booleans()),
        overflow=draw(st.sampled_from(["inf", "nan", "-inf"])) if overflows else "",
    )
    if not some_missing:
        return example
    count = len(list(example.model.parameters()))
    pairs = [(member, number) for member in range(example.size) for number in range(count)]
    here = draw(st.tuples(*[st.booleans()] * len(pairs)))
    nowhere = draw(st.sampled_from([None, *range(count)]))
    missing = frozenset(pair for pair, out in zip(pairs, here, strict=True) if out or pair[1] == nowhere)
    return dataclasses.replace(example, missing=missing, frozen_too=draw(st.booleans()))
