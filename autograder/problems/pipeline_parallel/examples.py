"""Examples of problem 5's functions: a split of layers, and micro-batches on their way through stages."""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

import msgspec
import numpy as np
import torch
from hypothesis import strategies as st

from autograder.checks.example import Call, Description
from autograder.checks.placement import InOneGroup
from autograder.checks.show import show_dtype
from autograder.problems.common.rank_side.layers import build
from autograder.problems.pipeline_parallel.expected import activations, even_runs
from autograder.problems.pipeline_parallel.messages import (
    Cost,
    ForwardArguments,
    SplitArguments,
    StageArguments,
    input_key,
    parameter_key,
)
from autograder.problems.pipeline_parallel.models import Model, plain_models

Asked = TypeVar("Asked", bound=msgspec.Struct)
Tensors = dict[str, torch.Tensor]
FLOATS = st.sampled_from([torch.float32, torch.float64])
SEEDS = st.integers(0, 15)  # few, for what is soon at its smallest: an example on several ranks is not cheap
EQUAL_ROWS = st.tuples(st.integers(1, 5), st.integers(1, 3)).map(lambda pair: (pair[1],) * pair[0])
ANY_ROWS = st.lists(st.integers(1, 4), min_size=2, max_size=5).map(tuple)


@dataclasses.dataclass(frozen=True)
class Split:
    """split_layers(layers, stages), in one process."""

    world_size: int
    layers: int
    stages: int

    def call(self) -> Call:
        """What the one rank is asked."""
        return Call("split", (SplitArguments(self.layers, self.stages),), ({},))

    def describe(self) -> Description:
        """The call in a student's words."""
        return Description(f"split_layers({self.layers}, {self.stages})", "one process", ("",))


@dataclasses.dataclass(frozen=True, kw_only=True)
class Staged(InOneGroup):
    """A model cut into stages, one for each of `members` (None: the whole world, and `group=None`)."""

    world_size: int
    model: Model
    dtype: torch.dtype = torch.float32
    members: tuple[int, ...] | None = None
    seed: int = 0
    cost: Cost = Cost()

    @property
    def stages(self) -> int:
        """p: a member is a stage."""
        return self.size

    @functools.cached_property
    def parameters(self) -> Tensors:
        """All parameters by name, drawn so that activations neither grow nor vanish."""
        named = build(dict(enumerate(self.model.layers))).state_dict()
        generator = np.random.default_rng((self.seed, 0))
        return {name: self._parameter(generator, like).to(self.dtype) for name, like in named.items()}

    def _parameter(self, generator: np.random.Generator, like: torch.Tensor) -> torch.Tensor:
        drawn = torch.from_numpy(generator.uniform(-1.5, 1.5, tuple(like.shape)))
        return drawn / math.sqrt(like.shape[1]) if like.dim() == 2 else drawn

    def inputs(self, number: int, rows: int) -> torch.Tensor:
        """Rows that go in: those of step or micro-batch `number`."""
        generator, shape = np.random.default_rng((self.seed, 1, number)), (rows, *self.model.row)
        if self.model.vocabulary:
            return torch.from_numpy(generator.integers(0, self.model.vocabulary, shape))
        return torch.from_numpy(generator.normal(0, 1, shape)).to(self.dtype)

    @functools.cached_property
    def shapes(self) -> list[tuple[int, ...]]:
        """The shape of one row where each stage begins, and of one that comes out of the last."""
        passing = activations(self.model.layers, self.parameters, self.inputs(0, 1))
        return [tuple(passing[cut].shape[1:]) for cut in (0, *(run.stop for run in self.runs))]

    @property
    def runs(self) -> list[range]:
        """The layers of each stage."""
        return even_runs(len(self.model.layers), self.stages)

    @property
    def group(self) -> list[int] | None:
        """The group as ranks are told of it."""
        return list(self.members) if self.members else None

    def stage(self, stage: int) -> StageArguments:
        """A stage, as its rank is told of it."""
        dtype = show_dtype(self.dtype)
        layers = {n: msgspec.structs.replace(self.model.layers[n], dtype=dtype) for n in self.runs[stage]}
        return StageArguments(layers, dtype, self.cost)

    def stage_parameters(self, stage: int) -> Tensors:
        """A stage's parameters, as tensors for its rank."""
        return {parameter_key(name): self.parameters[name] for name in self.owned(stage, self.parameters)}

    def owned(self, stage: int, names: Iterable[str]) -> list[str]:
        """Those of the parameters that are a stage's: each is called by its layer's number."""
        return [name for name in names if int(name.partition(".")[0]) in self.runs[stage]]

    def asked(self, function: str, arguments: Sequence[Asked], tensors: Sequence[Tensors], outside: Asked) -> Call:
        """A call of rank.py's function: arguments and tensors by stage, and arguments of ranks outside of the group."""
        stages = [self.ranks.index(rank) if rank in self.ranks else None for rank in range(self.world_size)]
        return Call(
            function,
            tuple(outside if stage is None else arguments[stage] for stage in stages),
            tuple({} if stage is None else tensors[stage] for stage in stages),
        )

    def given(self) -> tuple[str, ...]:
        """What each rank holds, in words."""
        told = {
            rank: f"stage {stage}: {self._shown(run)}"
            for stage, (rank, run) in enumerate(zip(self.ranks, self.runs, strict=True))
        }
        return tuple(told.get(rank, "not in the group") for rank in range(self.world_size))

    def _shown(self, run: range) -> str:
        return ", ".join(f"{number} {self.model.layers[number]}" for number in run) or "no layers"

    def grouped(self, call: str) -> str:
        """The call with its group."""
        return f"{call}, group={self.group})" if self.members else f"{call})"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Forward(Staged):
    """pipeline_forward over micro-batches of so many `rows`."""

    rows: tuple[int, ...]

    def call(self) -> Call:
        """What each stage is asked: the first is given the micro-batches, the others buffers to receive into."""
        arguments = [self._arguments(stage) for stage in range(self.stages)]
        inputs = {input_key(i): self.inputs(i, rows) for i, rows in enumerate(self.rows)}
        tensors = [self.stage_parameters(stage) | ({} if stage else inputs) for stage in range(self.stages)]
        return self.asked("forward", arguments, tensors, outside=ForwardArguments(self.group))

    def _arguments(self, stage: int) -> ForwardArguments:
        buffers = [(rows, *self.shapes[stage]) for rows in self.rows] if stage else []
        return ForwardArguments(self.group, self.stage(stage), inputs=0 if stage else len(self.rows), buffers=buffers)

    def describe(self) -> Description:
        """The call in a student's words."""
        rows = " ".join(map(str, self.rows))
        setting = (
            f"world size {self.world_size}, {show_dtype(self.dtype)}, {len(self.rows)} micro-batches of {rows} rows"
        )
        if self.cost.forward:
            setting += f", a forward takes {self.cost.forward:g} s"
        return Description(self.grouped("pipeline_forward(stage, micro_batches"), setting, self.given())


def forwards(world_size: int, **fixed: Any) -> st.SearchStrategy[Forward]:
    """Draws forward passes; what `fixed` names is drawn from there, the rest is plain."""

    @st.composite
    def draw_example(draw: st.DrawFn) -> Forward:
        members = draw(fixed["members"]) if "members" in fixed else None
        size = len(members) if members else world_size
        rows = fixed.get("rows", EQUAL_ROWS)
        return Forward(
            world_size=world_size,
            members=members,
            model=draw(fixed.get("models", plain_models)(size)),
            dtype=draw(FLOATS),
            rows=draw(rows),
            seed=draw(SEEDS),
            cost=draw(fixed["cost"]) if "cost" in fixed else Cost(),
        )

    return draw_example()
