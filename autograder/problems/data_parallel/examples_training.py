"""Examples of DistributedDataParallel: a wrapped model that is called, and one that is trained for some steps."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterable

import torch
from hypothesis import strategies as st

from autograder.checks.example import Call, Description
from autograder.problems.common.rank_side.layers import Layer
from autograder.problems.common.rank_side.training import OPTIMIZERS
from autograder.problems.data_parallel.messages import (
    ROWS,
    ForwardArguments,
    TrainArguments,
    rows_key,
    state_key,
    target_key,
)
from autograder.problems.data_parallel.replicas import DrawnLayers, Replicas, Tensors, bounds, fill, keyed
from autograder.simulator.topology import Link

MB = 2**20


@dataclasses.dataclass(frozen=True, kw_only=True)
class Forward(Replicas):
    """A wrapped model that is called, and not trained. `skipped` are branches to leave out."""

    rows: int = 2
    skipped: tuple[int, ...] = ()

    def inputs(self, member: int) -> torch.Tensor:
        """A member's rows."""
        return fill((self.rows, self.layers[0].inputs), torch.float64, (self.seed, member, 2))

    def call(self) -> Call:
        """Each member is given its state and its rows."""
        arguments = ForwardArguments(self.layers, list(self.skipped))
        tensors = [keyed(state_key, self.states[m]) | {ROWS: self.inputs(m)} for m in range(self.size)]
        return self.asked("forward", (arguments,) * self.world_size, tensors)

    def describe(self) -> Description:
        """The call in a student's words."""
        return self.description(
            f"ddp = DistributedDataParallel(module); ddp(x, {list(self.skipped)}); "
            f"ddp(x, skipped={list(self.skipped)}); ddp(x)",
            f"{self.rows} rows",
        )


@dataclasses.dataclass(frozen=True, kw_only=True)
class Training(Replicas):
    """Some steps of training. Rows are those of the whole batch, by step and micro-batch.

    `here` are branches that one member leaves out of one micro-batch (step, micro-batch, member, layer), `everywhere`
    those that no member uses in a step (step, layer). `zeroed`: gradients are set to zero between steps, not to None.
    `interrupted`: after the first step an exception leaves a no_sync(). `nested`: each no_sync() has another
    one inside, in which backward runs or which ends before.
    `compute` are the virtual seconds that each layer's backward takes on the simulated cluster (0: on any other).
    """

    cap: float = 25.0
    optimizer: str = "momentum"
    rows: tuple[tuple[int, ...], ...] = ((4,), (4,))
    here: frozenset[tuple[int, int, int, int]] = frozenset()
    everywhere: frozenset[tuple[int, int]] = frozenset()
    zeroed: bool = False
    interrupted: bool = False
    nested: bool = False
    compute: float = 0.0

    def skipped(self, step: int, micro: int, member: int) -> list[int]:
        """Layers that a member leaves out."""
        return [
            layer
            for layer in range(len(self.layers))
            if (step, micro, member, layer) in self.here or (step, layer) in self.everywhere
        ]

    @functools.cached_property
    def batches(self) -> list[list[tuple[torch.Tensor, torch.Tensor]]]:
        """The rows of all ranks and their targets, by step and micro-batch."""
        return [[self._batch(step, micro, rows) for micro, rows in enumerate(m)] for step, m in enumerate(self.rows)]

    def _batch(self, step: int, micro: int, rows: int) -> tuple[torch.Tensor, torch.Tensor]:
        inputs = fill((rows, self.layers[0].inputs), torch.float64, (self.seed, step, micro, 3))
        targets = fill((rows, self.layers[-1].outputs), torch.float64, (self.seed, step, micro, 4))
        return inputs, targets

    def share(self, step: int, micro: int, member: int) -> tuple[torch.Tensor, torch.Tensor]:
        """A member's rows and their targets."""
        inputs, targets = self.batches[step][micro]
        start, stop = bounds(len(inputs), member, self.size)
        return inputs[start:stop], targets[start:stop]

    def call(self) -> Call:
        """Each member is given its state and its own rows."""
        arguments = [self._arguments(rank) for rank in range(self.world_size)]
        return self.asked("train", arguments, [self._tensors(member) for member in range(self.size)])

    def _arguments(self, rank: int) -> TrainArguments:
        member = self.ranks.index(rank) if rank in self.ranks else None
        return TrainArguments(
            group=self.group,
            layers=self.layers,
            cap=self.cap,
            optimizer=self.optimizer,
            skipped=[] if member is None else self._all_skipped(member),
            rows=self.rows,
            ranks=self.size,
            zeroed=self.zeroed,
            interrupted=self.interrupted,
            nested=self.nested,
            compute=self.compute,
        )

    def _all_skipped(self, member: int) -> list[list[list[int]]]:
        """Layers that a member leaves out, by step and micro-batch."""
        return [
            [self.skipped(step, micro, member) for micro in range(len(micros))] for step, micros in enumerate(self.rows)
        ]

    def _tensors(self, member: int) -> Tensors:
        tensors = keyed(state_key, self.states[member])
        for step, micros in enumerate(self.rows):
            for micro in range(len(micros)):
                rows, targets = self.share(step, micro, member)
                tensors |= {rows_key(step, micro): rows, target_key(step, micro): targets}
        return tensors

    def describe(self) -> Description:
        """The training in a student's words."""
        micros = max(len(rows) for rows in self.rows)
        setting = [f"{len(self.rows)} steps with {self.optimizer}", f"rows {[sum(rows) for rows in self.rows]}"]
        if micros > 1:
            setting.append(f"up to {micros} micro-batches a step, all but the last in no_sync()")
        if self.interrupted:
            setting.append("an exception leaves a no_sync() after step 1")
        if self.nested:
            setting.append("each no_sync() has another one inside, around every other backward")
        if self.compute:
            setting.append(f"{self.compute * 1e6:.0f} us of backward a layer")
        if self.everywhere:
            setting.append("unused everywhere: " + _listed(f"layer {n} in step {s + 1}" for s, n in self.everywhere))
        given = {
            member: "leaves out " + _listed(f"layer {n} in step {s + 1}" for s, _, m, n in self.here if m == member)
            for member in {member for _, _, member, _ in self.here}
        }
        cap = f"{self.cap * MB:.0f} / 2**20" if 1 <= self.cap * MB < MB else f"{self.cap:g}"
        call = f"ddp = DistributedDataParallel(module, bucket_size_mb={cap}{self.shown_group})"
        return self.description(call, *setting, given=given)


def _listed(words: Iterable[str]) -> str:
    return ", ".join(sorted(set(words)))


@st.composite
def trainings(
    draw: st.DrawFn,
    world_size: int,
    drawn_layers: DrawnLayers,
    members: st.SearchStrategy[tuple[int, ...] | None] = st.none(),
    caps: st.SearchStrategy[float] = st.sampled_from([25.0, 300 / MB, 100 / MB, 1e-9]),
    steps: tuple[int, int] = (2, 3),
    micros: tuple[int, int] = (1, 1),
    skips: bool = False,
) -> Training:
    """Trainings of `steps` steps of `micros` micro-batches each. With `skips`, branches are left out here and there."""
    layers, group = draw(drawn_layers), draw(members)
    size = len(group or range(world_size))
    # batch norm needs two rows on each rank to have a spread at all
    least = 2 * size if any(layer.kind == "batch_norm" for layer in layers) else 1
    batch = st.one_of(st.just(2 * size), st.integers(least, 2 * size + 1))
    rows = st.lists(batch, min_size=micros[0], max_size=micros[1]).map(tuple)
    example = Training(
        world_size=world_size,
        layers=layers,
        members=group,
        seed=draw(st.integers(0, 999)),
        cap=draw(caps),
        optimizer=draw(st.sampled_from(sorted(OPTIMIZERS, reverse=True))),
        rows=tuple(draw(st.lists(rows, min_size=steps[0], max_size=steps[1]))),
        zeroed=draw(st.booleans()),
    )
    return _with_skips(draw, example) if skips else example


@st.composite
def timed_trainings(draw: st.DrawFn, world_size: int, link: Link, ratio: float) -> Training:
    """Trainings on the simulated cluster: one bucket per layer, backward `ratio` times as slow as the network."""
    width = draw(st.integers(4, 8))
    nbytes = 8 * width**2
    layer = Layer("tanh_linear", (width,), bias=False)
    return Training(
        world_size=world_size,
        layers=(layer,) * draw(st.integers(4, 6)),
        seed=draw(st.integers(0, 999)),
        cap=1.5 * nbytes / MB,
        rows=((2 * world_size,),) * 3,
        compute=ratio * all_reduce_seconds(nbytes, world_size, link),
    )


def all_reduce_seconds(nbytes: int, n: int, link: Link) -> float:
    """One all-reduce on n ranks of the simulated cluster: a ring's 2 (n-1) steps of 1/n each."""
    return 2 * (n - 1) * (link.latency + nbytes / n / link.bandwidth)


def _with_skips(draw: st.DrawFn, example: Training) -> Training:
    """The example with some branches left out."""
    branches = [number for number, layer in enumerate(example.layers) if layer.kind == "branch"]
    places = [(step, micro) for step, micros in enumerate(example.rows) for micro in range(len(micros))]
    here = [(*place, member, layer) for place in places for member in range(example.size) for layer in branches]
    everywhere = [(step, layer) for step in range(len(example.rows)) for layer in branches]
    if not branches:
        return example
    return dataclasses.replace(
        example,
        here=draw(st.frozensets(st.sampled_from(here), min_size=1, max_size=len(here))),
        everywhere=draw(st.frozensets(st.sampled_from(everywhere), max_size=len(everywhere) // 2)),
    )
