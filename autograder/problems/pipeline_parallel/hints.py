"""Recognises a wrong loss or gradient by what it is: the quickest way to the cause."""

from __future__ import annotations

from collections.abc import Iterator

import torch

from autograder.problems.pipeline_parallel.examples import Train
from autograder.problems.pipeline_parallel.expected import even_runs
from autograder.problems.pipeline_parallel.stages import expected_step, whole


def hints_for(example: Train, step: int, got: torch.Tensor, name: str | None) -> Iterator[str]:
    """What a wrong loss or gradient (of parameter `name`) is, where that can be told: the quickest way to the cause."""
    if not torch.count_nonzero(got):
        yield "it is all zeros: nothing came back from the next stage, or what came was not used"
        return
    for weights, words in _weightings(example, step):
        loss, grads = whole(example, step, weights)
        suspect = loss if name is None else grads[name]
        bound = expected_step(example, step)
        tolerance = (bound[0] if name is None else bound[1][name]).bound
        if bool((got.double() - suspect).abs().le(torch.from_numpy(tolerance) * example.num_micro_batches).all()):
            yield words
            return
    if not example.zero and step and name is not None:
        alone = whole(example, step)[1][name]
        if torch.allclose(got.double(), alone, rtol=1e-4, atol=1e-6):
            yield "this is the gradient of the last step alone: step adds to .grad, and zeroing it is the caller's"
            return
    wanted = expected_step(example, step)[0 if name is None else 1]
    values = torch.from_numpy((wanted if name is None else wanted[name]).values)
    ratio = float((got.double() * values).sum() / (values * values).sum().clamp_min(1e-300))
    if torch.allclose(got.double(), ratio * values, rtol=1e-4, atol=1e-6 * float(values.abs().max())):
        yield f"it is {ratio:.4g} times what it must be"


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
        whole = batch // count * count
        kept = (torch.arange(batch) < whole).double()
        yield 1 / per_row / count, "every micro-batch counts the same here: those with fewer rows have to count less"
        dropped = f"this is what the first {whole} of the {batch} rows give: the rest does not divide, and is missing"
        yield kept / whole, dropped
        yield kept / batch, dropped
