"""Examples of problem 5: a split of layers, micro-batches on their way through stages, steps of training, refusals."""

from __future__ import annotations

import dataclasses
import functools
import math
from typing import Any

import numpy as np
import torch
from hypothesis import strategies as st

from autograder.checks.example import Call, Description
from autograder.checks.placement import Members
from autograder.checks.show import show_dtype
from autograder.problems.common.rank_side.layers import build
from autograder.problems.pipeline_parallel.expected import activations, even_runs
from autograder.problems.pipeline_parallel.models import Network, plain_networks, show_layer

FLOATS = st.sampled_from([torch.float32, torch.float64])
SCHEDULES = st.sampled_from(["gpipe", "1f1b"])
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
        return Call("split", ({"layers": self.layers, "stages": self.stages},), ({},))

    def describe(self) -> Description:
        """The call in a student's words."""
        return Description(f"split_layers({self.layers}, {self.stages})", "one process", ("",))


@dataclasses.dataclass(frozen=True, kw_only=True)
class Staged(Members):
    """A network cut into stages, one for each of `members` (None: the whole world, and `group=None`)."""

    world_size: int
    network: Network
    dtype: torch.dtype = torch.float32
    members: tuple[int, ...] | None = None
    seed: int = 0
    cost: tuple[float, float] | None = None  # virtual seconds of a forward and of a backward

    @property
    def stages(self) -> int:
        """p: a member is a stage."""
        return self.size

    @functools.cached_property
    def parameters(self) -> dict[str, torch.Tensor]:
        """All parameters by name, drawn so that activations neither grow nor vanish."""
        named = build(dict(enumerate(self.network.layers)), torch.float64).state_dict()
        generator = np.random.default_rng((self.seed, 0))
        return {name: self._parameter(generator, like).to(self.dtype) for name, like in named.items()}

    def _parameter(self, generator: np.random.Generator, like: torch.Tensor) -> torch.Tensor:
        drawn = torch.from_numpy(generator.uniform(-1.5, 1.5, tuple(like.shape)))
        return drawn / math.sqrt(like.shape[1]) if like.dim() == 2 else drawn

    def inputs(self, number: int, rows: int) -> torch.Tensor:
        """Rows that go in: those of step or micro-batch `number`."""
        generator, shape = np.random.default_rng((self.seed, 1, number)), (rows, *self.network.row)
        if self.network.vocabulary:
            return torch.from_numpy(generator.integers(0, self.network.vocabulary, shape))
        return torch.from_numpy(generator.normal(0, 1, shape)).to(self.dtype)

    @functools.cached_property
    def shapes(self) -> list[tuple[int, ...]]:
        """The shape of one row where each stage begins, and of one that comes out of the last."""
        passing = activations(self.network.layers, self.parameters, self.inputs(0, 1))
        return [tuple(passing[cut].shape[1:]) for cut in (0, *(run.stop for run in self.runs))]

    @property
    def runs(self) -> list[range]:
        """The layers of each stage."""
        return even_runs(len(self.network.layers), self.stages)

    def stage(self, stage: int) -> dict[str, Any]:
        """What a rank is told of its stage."""
        cost = self.cost and dict(zip(("forward", "backward"), self.cost, strict=True))
        layers = {str(number): self.network.layers[number] for number in self.runs[stage]}
        group = list(self.members) if self.members else None
        return {"group": group, "layers": layers, "dtype": show_dtype(self.dtype), "cost": cost}

    def stage_parameters(self, stage: int) -> dict[str, torch.Tensor]:
        """A stage's parameters, as tensors for the driver."""
        numbers = {str(number) for number in self.runs[stage]}
        return {f"parameter/{name}": t for name, t in self.parameters.items() if name.partition(".")[0] in numbers}

    def given(self) -> tuple[str, ...]:
        """What each rank holds, in words."""
        told = {
            rank: f"stage {stage}: {self._shown(run)}"
            for stage, (rank, run) in enumerate(zip(self.ranks, self.runs, strict=True))
        }
        return tuple(told.get(rank, "not in the group") for rank in range(self.world_size))

    def _shown(self, run: range) -> str:
        return ", ".join(f"{number} {show_layer(self.network.layers[number])}" for number in run) or "no layers"

    def grouped(self, call: str) -> str:
        """The call with its group."""
        return f"{call}, group={list(self.members)})" if self.members else f"{call})"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Forward(Staged):
    """pipeline_forward over micro-batches of so many `rows`."""

    rows: tuple[int, ...]

    def call(self) -> Call:
        """What each rank is asked; ranks outside of the group get nothing but the group."""
        arguments, tensors = [], []
        for rank in range(self.world_size):
            if rank not in self.ranks:
                arguments.append({"group": list(self.members)})
                tensors.append({})
                continue
            stage = self.ranks.index(rank)
            buffers = [(rows, *self.shapes[stage]) for rows in self.rows] if stage else None
            inputs = {} if stage else {f"input/{i}": self.inputs(i, rows) for i, rows in enumerate(self.rows)}
            arguments.append({**self.stage(stage), "buffers": buffers})
            tensors.append(self.stage_parameters(stage) | inputs)
        return Call("forward", tuple(arguments), tuple(tensors))

    def describe(self) -> Description:
        """The call in a student's words."""
        rows = " ".join(map(str, self.rows))
        setting = (
            f"world size {self.world_size}, {show_dtype(self.dtype)}, {len(self.rows)} micro-batches of {rows} rows"
        )
        if self.cost:
            setting += f", a forward takes {self.cost[0]:g} s"
        return Description(self.grouped("pipeline_forward(stage, micro_batches"), setting, self.given())


@dataclasses.dataclass(frozen=True, kw_only=True)
class Train(Staged):
    """A Pipeline and a step for each of `batch_sizes`; example_input has `example_rows` rows."""

    batch_sizes: tuple[int, ...]
    num_micro_batches: int
    schedule: str = "gpipe"
    zero: bool = True
    example_rows: int = 0

    driver = "train"

    def targets(self, step: int) -> torch.Tensor:
        """What the loss compares with: rows that differ from each other, or classes in turn."""
        rows, row = self.batch_sizes[step], self.shapes[-1]
        if self.network.loss == "cross_entropy":
            return (torch.arange(rows) * 3 + self.seed + step) % row[0]
        generator = np.random.default_rng((self.seed, 2, step))
        return torch.from_numpy(generator.normal(0, 1, (rows, *row))).to(self.dtype)

    def call(self) -> Call:
        """What each rank is asked; ranks outside of the group get nothing but the group."""
        arguments, tensors = [], []
        for rank in range(self.world_size):
            member = rank in self.ranks
            arguments.append(self._arguments(self.ranks.index(rank)) if member else {"group": list(self.members)})
            tensors.append(self._tensors(self.ranks.index(rank)) if member else {})
        return Call(self.driver, tuple(arguments), tuple(tensors))

    def _arguments(self, stage: int) -> dict[str, Any]:
        return {
            **self.stage(stage),
            "loss": self.network.loss if stage == self.stages - 1 else None,
            "example": (self.example_rows, *self.shapes[stage]) if stage else None,
            "num_micro_batches": self.num_micro_batches,
            "schedule": self.schedule,
            "batch_sizes": self.batch_sizes,
            "zero": self.zero,
        }

    def _tensors(self, stage: int) -> dict[str, torch.Tensor]:
        tensors = self.stage_parameters(stage)
        if stage == 0:
            tensors |= {f"input/{i}": self.inputs(i, rows) for i, rows in enumerate(self.batch_sizes)}
        if stage == self.stages - 1:
            tensors |= {f"target/{i}": self.targets(i) for i in range(len(self.batch_sizes))}
        return tensors

    def describe(self) -> Description:
        """The calls in a student's words."""
        schedule = f'schedule="{self.schedule}"'
        steps = " ".join(f".step({size})" for size in self.batch_sizes)
        call = f"{self.grouped(f'Pipeline(stage, loss_fn, {self.num_micro_batches}, {schedule}')}{steps}"
        return Description(call, f"world size {self.world_size}, {self.setting()}", self.given())

    def setting(self) -> str:
        """What the calls do not say."""
        words = [show_dtype(self.dtype), f"loss {self.network.loss}"]
        if len(self.batch_sizes) == 1:
            sizes = [len(run) for run in even_runs(self.batch_sizes[0], self.num_micro_batches)]
            words.append(f"micro-batches of {' '.join(map(str, sizes))} rows")
        else:
            words.append(f"gradients {'zeroed' if self.zero else 'not zeroed'} between steps")
        if self.cost:
            words.append(f"a forward takes {self.cost[0]:g} s and a backward {self.cost[1]:g} s")
        return ", ".join(words)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Refusal(Train):
    """A Pipeline that cannot be, or a step that it cannot do: every rank has to raise ValueError."""

    driver = "refuse"

    def setting(self) -> str:
        """What is due."""
        return "ValueError is due on every rank"


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
            network=draw(fixed.get("networks", plain_networks)(size)),
            dtype=draw(FLOATS),
            rows=draw(rows),
            seed=draw(SEEDS),
            cost=draw(fixed["cost"]) if "cost" in fixed else None,
        )

    return draw_example()


def even_batches(stages: int) -> st.SearchStrategy[tuple[int, tuple[int, ...]]]:
    """M and B with M | B: one micro-batch, fewer than stages, as many, at least twice as many."""
    counts = sorted({1, 2, 3, stages, 2 * stages, 7})
    return st.tuples(st.sampled_from(counts), st.integers(1, 3)).map(lambda pair: (pair[0], (pair[0] * pair[1],)))


def uneven_batches(stages: int) -> st.SearchStrategy[tuple[int, tuple[int, ...]]]:
    """M and the Bs of two steps, M no divisor of the first: rows are left over, from one to M - 1 of them."""
    return st.sampled_from([(4, (6, 5)), (3, (7, 8)), (2, (5, 3)), (5, (6, 11)), (8, (13, 9))])


def trainings(world_size: int, **fixed: Any) -> st.SearchStrategy[Train]:
    """Draws training; what `fixed` names is drawn from there, the rest is plain: one step, M a divisor of B."""

    @st.composite
    def draw_example(draw: st.DrawFn) -> Train:
        members = draw(fixed["members"]) if "members" in fixed else None
        size = len(members) if members else world_size
        micro_batches, sizes = draw(fixed.get("batches", even_batches)(size))
        return Train(
            world_size=world_size,
            members=members,
            network=draw(fixed.get("networks", plain_networks)(size)),
            dtype=draw(FLOATS),
            batch_sizes=sizes,
            num_micro_batches=micro_batches,
            schedule=draw(fixed.get("schedule", SCHEDULES)),
            zero=draw(fixed.get("zero", st.just(True))),
            example_rows=draw(st.integers(0, 1)),
            seed=draw(SEEDS),
            cost=draw(fixed["cost"]) if "cost" in fixed else None,
        )

    return draw_example()


def refusals(world_size: int) -> st.SearchStrategy[Refusal]:
    """Too few rows, an unknown schedule, no micro-batches."""
    wrong = st.sampled_from(
        [
            (4, 3, "1f1b"),
            (2, 1, "gpipe"),
            (5, 1, "1f1b"),
            (2, 4, "GPipe"),
            (2, 4, "zigzag"),
            (0, 4, "gpipe"),
            (-1, 4, "1f1b"),
        ]
    )

    @st.composite
    def draw_example(draw: st.DrawFn) -> Refusal:
        micro_batches, rows, schedule = draw(wrong)
        network = draw(plain_networks(world_size))
        return Refusal(
            world_size=world_size,
            network=network,
            batch_sizes=(rows,),
            num_micro_batches=micro_batches,
            schedule=schedule,
        )

    return draw_example()
