"""What the ranks of a pipeline reply, and what the unsplit network gives: every judge of problem 5 builds on it."""

from __future__ import annotations

import functools
import math

import torch

from autograder.checks.compare import first_wrong, why_incomparable
from autograder.checks.expected import Expected
from autograder.checks.finding import Mismatch, RankView
from autograder.cluster.outcome import Outcome, RankOutcome
from autograder.problems.pipeline_parallel.examples import Forward, Staged
from autograder.problems.pipeline_parallel.examples_training import Train
from autograder.problems.pipeline_parallel.expected import activations, roundings, whole_gradients, within


def members(example: Staged, outcome: Outcome) -> list[RankOutcome]:
    """The ranks of the stages, in order."""
    return [outcome.ranks[rank] for rank in example.ranks]


def activation_bytes(example: Staged, rows: int) -> dict[int, int]:
    """What every rank but the first stage's receives of so many rows, going forward."""
    return {
        rank: rows * math.prod(example.shapes[stage]) * example.dtype.itemsize
        for stage, rank in enumerate(example.ranks)
        if stage
    }


@functools.lru_cache(maxsize=64)
def expected_outputs(example: Forward) -> list[Expected]:
    """What comes out of the last stage, for each micro-batch."""
    layers = example.model.layers
    values = [
        activations(layers, example.parameters, example.inputs(i, rows))[-1] for i, rows in enumerate(example.rows)
    ]
    scale = max(1.0, *(float(v.abs().max()) for v in values))
    return [within(v, example.dtype, roundings(layers), scale) for v in values]


@functools.lru_cache(maxsize=64)
def expected_step(example: Train, step: int) -> tuple[Expected, dict[str, Expected]]:
    """The loss of this step, and what every .grad holds after it: of a frozen parameter nothing, so it is not here."""
    layers, rows = example.model.layers, example.batch_sizes[step]
    loss, grads = whole(example, step)
    earlier = () if example.zero else range(step)
    for before in earlier:
        grads = {name: grad + whole(example, before)[1][name] for name, grad in grads.items()}
    scale = max(float(grad.abs().max()) for grad in grads.values())
    count = roundings(layers, summed=(step + 1) * rows * max(1, example.model.row[0]))
    return (
        within(loss, example.dtype, count, max(1.0, float(loss))),
        {name: within(grad, example.dtype, count, scale) for name, grad in grads.items()},
    )


def whole(
    example: Train, step: int, weights: torch.Tensor | None = None
) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
    """The unsplit network's, with each row of the batch counted as `weights` says."""
    model, rows = example.model, example.batch_sizes[step]
    inputs, targets = example.inputs(step, rows), example.targets(step)
    return whole_gradients(model.layers, example.parameters, model.loss, inputs, targets, weights)


def is_right(rank: RankOutcome, key: str, expected: Expected) -> bool:
    """Whether the tensor of that name came back as it is expected."""
    return not why_incomparable(rank, key, expected) and first_wrong(rank, key, expected) < 0


def wrong_calls(ranks: list[RankOutcome], events: list[list[list[str]]], count: int) -> Mismatch | None:
    """A stage is called once for each micro-batch; `events` are each rank's, by step."""
    called = [[step.count("forward") for step in steps] for steps in events]
    wrong = [rank.rank for rank, counts in zip(ranks, called, strict=True) if any(n != count for n in counts)]
    if not wrong:
        return None
    rows = tuple(
        RankView(
            rank=rank.rank,
            got=f"{' and '.join(map(str, counts))} calls of the stage",
            expected=str(count),
            wrong=rank.rank in wrong,
        )
        for rank, counts in zip(ranks, called, strict=True)
    )
    found = next(n for counts in called for n in counts if n != count)
    hints = ("stage.forward(x) passes the module's hooks by: call stage(x)",) if not found else ()
    headline = f"rank {wrong[0]} called its stage {counted(found, 'time')} for {counted(count, 'micro-batch')}"
    return Mismatch(headline=headline, ranks=rows, hints=hints)


def counted(count: int, noun: str) -> str:
    """1 time, 2 times, 2 micro-batches."""
    return f"{count} {noun}{'' if count == 1 else 'es' if noun.endswith('ch') else 's'}"
