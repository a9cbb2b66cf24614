"""Examples of Pipeline: steps of training, and what it must refuse."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import torch
from hypothesis import strategies as st

from autograder.checks.example import Call, Description
from autograder.checks.show import show_dtype
from autograder.problems.pipeline_parallel.examples import FLOATS, SEEDS, Staged, Tensors
from autograder.problems.pipeline_parallel.expected import even_runs
from autograder.problems.pipeline_parallel.messages import Cost, TrainArguments, input_key, target_key
from autograder.problems.pipeline_parallel.models import plain_models

SCHEDULES = st.sampled_from(["gpipe", "1f1b"])


@dataclasses.dataclass(frozen=True, kw_only=True)
class Train(Staged):
    """A Pipeline and a step for each of `batch_sizes`; example_input has `example_rows` rows."""

    batch_sizes: tuple[int, ...]
    num_micro_batches: int
    schedule: str = "gpipe"
    zero: bool = True
    example_rows: int = 0

    function = "train"

    def targets(self, step: int) -> torch.Tensor:
        """What the loss compares with: rows that differ from each other, or classes in turn."""
        rows, row = self.batch_sizes[step], self.shapes[-1]
        if self.model.loss == "cross_entropy":
            return (torch.arange(rows) * 3 + self.seed + step) % row[0]
        generator = np.random.default_rng((self.seed, 2, step))
        return torch.from_numpy(generator.normal(0, 1, (rows, *row))).to(self.dtype)

    def call(self) -> Call:
        """What each stage is asked: the first is given the batches, the last what their losses compare with."""
        arguments = [self._arguments(stage) for stage in range(self.stages)]
        tensors = [self._tensors(stage) for stage in range(self.stages)]
        return self.asked(self.function, arguments, tensors, outside=TrainArguments(self.group))

    def _arguments(self, stage: int) -> TrainArguments:
        return TrainArguments(
            group=self.group,
            stage=self.stage(stage),
            loss=self.model.loss if stage == self.stages - 1 else None,
            example=(self.example_rows, *self.shapes[stage]) if stage else None,
            num_micro_batches=self.num_micro_batches,
            schedule=self.schedule,
            batch_sizes=self.batch_sizes,
            zero=self.zero,
        )

    def _tensors(self, stage: int) -> Tensors:
        tensors = self.stage_parameters(stage)
        if stage == 0:
            tensors |= {input_key(step): self.inputs(step, rows) for step, rows in enumerate(self.batch_sizes)}
        if stage == self.stages - 1:
            tensors |= {target_key(step): self.targets(step) for step in range(len(self.batch_sizes))}
        return tensors

    def describe(self) -> Description:
        """The calls in a student's words."""
        schedule = f'schedule="{self.schedule}"'
        steps = " ".join(f".step({size})" for size in self.batch_sizes)
        call = f"{self.grouped(f'Pipeline(stage, loss_fn, {self.num_micro_batches}, {schedule}')}{steps}"
        return Description(call, f"world size {self.world_size}, {self.setting()}", self.given())

    def setting(self) -> str:
        """What the calls do not say."""
        words = [show_dtype(self.dtype), f"loss {self.model.loss}"]
        if len(self.batch_sizes) == 1:
            sizes = [len(run) for run in even_runs(self.batch_sizes[0], self.num_micro_batches)]
            words.append(f"micro-batches of {' '.join(map(str, sizes))} rows")
        else:
            words.append(f"gradients {'zeroed' if self.zero else 'not zeroed'} between steps")
        if self.cost.forward:
            words.append(f"a forward takes {self.cost.forward:g} s and a backward {self.cost.backward:g} s")
        return ", ".join(words)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Refusal(Train):
    """A Pipeline that cannot be, or a step that it cannot do: every rank has to raise ValueError."""

    function = "refuse"

    def setting(self) -> str:
        """What is due."""
        return "expected ValueError on every rank"


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
            model=draw(fixed.get("models", plain_models)(size)),
            dtype=draw(FLOATS),
            batch_sizes=sizes,
            num_micro_batches=micro_batches,
            schedule=draw(fixed.get("schedule", SCHEDULES)),
            zero=draw(fixed.get("zero", st.just(True))),
            example_rows=draw(st.integers(0, 1)),
            seed=draw(SEEDS),
            cost=draw(fixed["cost"]) if "cost" in fixed else Cost(),
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
        model = draw(plain_models(world_size))
        return Refusal(
            world_size=world_size,
            model=model,
            batch_sizes=(rows,),
            num_micro_batches=micro_batches,
            schedule=schedule,
        )

    return draw_example()
