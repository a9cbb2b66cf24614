"""Recognises what is wrong with a split, an output, a loss, a gradient or a schedule: the quickest way to the cause."""

from __future__ import annotations

from collections.abc import Iterator

import torch

from autograder.checks.expected import Expected
from autograder.checks.hints import first_hint
from autograder.cluster.outcome import RankOutcome
from autograder.problems.pipeline_parallel.examples import Forward, Split, Staged
from autograder.problems.pipeline_parallel.examples_training import Train
from autograder.problems.pipeline_parallel.expected import even_runs
from autograder.problems.pipeline_parallel.messages import output_key
from autograder.problems.pipeline_parallel.stages import expected_outputs, expected_step, is_right, whole


def split_hint(example: Split, runs: list[range]) -> str:
    """Which rule the split breaks."""
    if len(runs) != example.stages:
        return f"there are {len(runs)} entries for {example.stages} stages: a stage without layers has an empty range"
    sizes = [len(run) for run in runs]
    if sum(sizes) != example.layers:
        return f"the stages have {sum(sizes)} of the {example.layers} layers"
    if max(sizes) - min(sizes) > 1:
        return (
            f"stages of {' '.join(map(str, sizes))} layers are not as even as possible: two may differ by one at most"
        )
    return "each stage has neighbouring layers, in order, and the layers left over go to the first stages, one each"


def other_micro_batches(example: Forward, last: RankOutcome, number: int) -> Iterator[str]:
    """Whose outputs those of a micro-batch are, which are not its own."""
    for other, expected in enumerate(expected_outputs(example)):
        if other != number and is_right(last, output_key(number), expected):
            yield f"these are the outputs of micro-batch {other}"


def hints_for(example: Train, step: int, got: torch.Tensor, name: str | None) -> tuple[str, ...]:
    """What a wrong loss or gradient (of parameter `name`) is, where that can be told."""
    return first_hint(
        _nothing(got),
        _weighted(example, step, got, name),
        _last_step_alone(example, step, got, name),
        _multiple(example, step, got, name),
    )


def _nothing(got: torch.Tensor) -> Iterator[str]:
    if not torch.count_nonzero(got):
        yield "it is all zeros: nothing came back from the next stage, or what came was not used"


def _weighted(example: Train, step: int, got: torch.Tensor, name: str | None) -> Iterator[str]:
    """The rows of the batch count, but not as they must."""
    bound = _wanted(example, step, name).bound
    assert bound is not None
    tolerance = torch.from_numpy(bound) * example.num_micro_batches
    for weights, words in _weightings(example, step):
        loss, grads = whole(example, step, weights)
        suspect = loss if name is None else grads[name]
        if bool((got.double() - suspect).abs().le(tolerance).all()):
            yield words


def _last_step_alone(example: Train, step: int, got: torch.Tensor, name: str | None) -> Iterator[str]:
    if example.zero or not step or name is None:
        return
    alone = whole(example, step)[1][name]
    if torch.allclose(got.double(), alone, rtol=1e-4, atol=1e-6):
        yield "this is the gradient of the last step alone: step adds to .grad, and zeroing it is the caller's"


def _multiple(example: Train, step: int, got: torch.Tensor, name: str | None) -> Iterator[str]:
    values = torch.from_numpy(_wanted(example, step, name).values)
    ratio = float((got.double() * values).sum() / (values * values).sum().clamp_min(1e-300))
    if torch.allclose(got.double(), ratio * values, rtol=1e-4, atol=1e-6 * float(values.abs().max())):
        yield f"it is {ratio:.4g} times what it must be"


def _wanted(example: Train, step: int, name: str | None) -> Expected:
    """The loss, or the gradient of that parameter."""
    loss, grads = expected_step(example, step)
    return loss if name is None else grads[name]


def _weightings(example: Train, step: int) -> Iterator[tuple[torch.Tensor, str]]:
    """Wrong ways to count the rows of a batch, each with the words for it."""
    batch, count = example.batch_sizes[step], example.num_micro_batches
    sizes = [len(run) for run in even_runs(batch, count)]
    per_row = torch.tensor([float(size) for size in sizes for _ in range(size)], dtype=torch.float64)
    last = torch.zeros(batch, dtype=torch.float64)
    last[batch - sizes[-1] :] = 1
    if count > 1:
        yield 1 / per_row, "this is the sum of the micro-batches' losses, not the mean over the batch"
        yield last / sizes[-1], "this is what the last micro-batch alone gives"
        yield last / batch, "this is what the last micro-batch adds: what the others add is missing"
        yield torch.full_like(last, 1 / batch / count), "this is divided by the number of micro-batches once too often"
    if batch % count:
        full = batch // count * count
        kept = (torch.arange(batch) < full).double()
        yield 1 / per_row / count, "every micro-batch counts the same here: those with fewer rows have to count less"
        dropped = f"this is what the first {full} of the {batch} rows give: the rest does not divide, and is missing"
        yield kept / full, dropped
        yield kept / batch, dropped


def where_it_was_right(example: Train, ranks: list[RankOutcome], stage: int) -> tuple[str, ...]:
    """The loss is right, and so are the gradients of the stages after this one: the fault is in between."""
    if stage == example.stages - 1:
        return ("the loss is right: what the forwards made was, and what they left for the backwards is not",)
    return (
        f"the gradients of the stages after it are right: look at what rank {ranks[stage].rank} receives from rank "
        f"{ranks[stage + 1].rank} on the way back, and which micro-batch's graph that is run through",
    )


def one_after_another(example: Staged, seconds: float, busy: float) -> tuple[str, ...]:
    """Whether the stages worked one after another."""
    if seconds < 0.99 * busy * example.stages:
        return ()
    return (f"{seconds:.4g} s is {example.stages} stages times {busy:g} s: no two stages were ever at work together",)
