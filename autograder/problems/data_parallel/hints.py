"""Recognises a wrong state or gradient by what it is instead: the quickest way to the cause."""

from __future__ import annotations

from collections.abc import Iterator

import torch

from autograder.checks.expected import same
from autograder.checks.show import show_dtype
from autograder.cluster.outcome import RankOutcome
from autograder.problems.data_parallel.expected import Gradient
from autograder.problems.data_parallel.replicas import Replicas


def whose_state(example: Replicas, rank: RankOutcome, key: str, name: str, source: int) -> Iterator[str]:
    """Whose value a parameter or buffer has, which should have rank `source`'s."""
    for member, number in enumerate(example.ranks):
        if same(example.states[member][name]).wrong(rank.tensors[key]).any():
            continue
        if number == rank.rank:
            yield "it still has its own value: it was not sent, or not written back"
        else:
            yield f"it has rank {number}'s value, but src is rank {source}"


def hints_for(example: Replicas, gradient: Gradient, member: int, got: torch.Tensor) -> Iterator[str]:
    """What the wrong gradient is instead, likeliest first."""
    for words, values in _suspects(example, gradient, member):
        if values.shape == got.shape and torch.count_nonzero(values) and _alike(got, values):
            yield words
    expected = None if gradient.expected is None else torch.from_numpy(gradient.expected.values)
    if expected is not None and not expected.isfinite().all() and got.isfinite().all():
        yield "an inf or NaN of one rank belongs into the average of all: who hides it trains on with wrong gradients"
    elif got.isnan().any():
        yield "it has NaN, as on the simulated cluster every buffer on its way has: it was read before wait()"
    if not torch.count_nonzero(got) and gradient.own[member] is not None:
        yield "it is all zeros: was the gradient sent before backward had produced it, or never put back?"
    if gradient.expected is not None and _alike(got, torch.from_numpy(gradient.expected.values), 1e-5):
        yield f"only about 7 digits are right: precision is lost on the way; the gradient is {show_dtype(got.dtype)}"


def _alike(got: torch.Tensor, values: torch.Tensor, relative: float = 0.0) -> bool:
    relative = relative or (1e-9 if got.dtype == torch.float64 else 1e-4)
    return torch.allclose(got.double(), values.double(), rtol=relative, atol=1e-12)


def _suspects(example: Replicas, gradient: Gradient, member: int) -> Iterator[tuple[str, torch.Tensor]]:
    n, world = example.size, example.world_size
    shape = next(own for own in gradient.own if own is not None).double()
    parts = [torch.zeros_like(shape) if own is None else own.double() for own in gradient.own]
    present = sum(own is not None for own in gradient.own)
    total, own = torch.stack(parts).sum(0), parts[member]
    yield "this is the rank's own gradient: the average was not written into it, or it was read before wait()", own
    yield f"this is the rank's own gradient divided by {n}: it was read before the sum was there; wait() first", own / n
    yield f"this is the sum over the {n} ranks: it was not divided", total
    yield f"this is the sum divided by 2, but the group has {n} ranks", total / 2
    yield f"this is the sum divided by the size of the world, {world}; the group has {n} ranks", total / world
    yield f"this is the sum divided by the {present} ranks that had a gradient, not by all {n}", total / present
    yield "this is the average divided once more", total / n / n
    if gradient.last:
        last = [torch.zeros_like(shape) if part is None else part.double() for part in gradient.last]
        yield "this is the average of the last micro-batch alone", torch.stack(last).sum(0) / n
        yield "this is the rank's own gradient of the last micro-batch", last[member]
        rest = own - last[member]
        yield (
            "only the last micro-batch was averaged; what had been added up before is the rank's own",
            (torch.stack(last).sum(0) / n + rest),
        )
    yield from gradient.others
