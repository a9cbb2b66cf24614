"""Judges one parameter's gradient on all ranks of a group, and recognises a wrong one by what it is instead."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import msgspec
import torch

from autograder.checks.compare import first_wrong, side_by_side, why_incomparable
from autograder.checks.expected import Expected, bits
from autograder.checks.finding import Mismatch, RankView
from autograder.checks.show import show, show_dtype
from autograder.cluster.outcome import Outcome, RankOutcome
from autograder.problems.data_parallel.replicas import Replicas


class Gradient(msgspec.Struct, frozen=True, kw_only=True):
    """A parameter's gradient as it came back under `key`, and what is known of it.

    `own` are the members' gradients before the averaging (None: missing) and `last` those of the last micro-batch;
    `others` are other averages that it might be taken for, with words for them. `expected` is None if no rank has one.
    """

    name: str
    key: str
    when: str
    own: tuple[torch.Tensor | None, ...]
    expected: Expected | None
    last: tuple[torch.Tensor | None, ...] = ()
    others: tuple[tuple[str, torch.Tensor], ...] = ()


def wrong_gradient(example: Replicas, gradient: Gradient, outcome: Outcome) -> Mismatch | None:
    """What is wrong with it on any rank: absent, of another shape or dtype, wrong, or not bitwise the same on all."""
    ranks = [outcome.ranks[rank] for rank in example.ranks]
    if gradient.expected is None:
        return _of_nobody(gradient, ranks)
    for member, rank in enumerate(ranks):
        if rank.reply is None or gradient.key not in rank.reply.tensors:
            return _absent(gradient, ranks, member)
        fault = why_incomparable(rank, gradient.key, gradient.expected)
        if fault:
            return Mismatch(headline=f"rank {rank.rank}'s gradient of {gradient.name} {fault}{gradient.when}")
        around = first_wrong(rank, gradient.key, gradient.expected)
        if around >= 0:
            return _wrong(example, gradient, ranks, member, around)
    return _out_of_step(gradient, ranks)


def _of_nobody(gradient: Gradient, ranks: Sequence[RankOutcome]) -> Mismatch | None:
    """Where no rank has a gradient it stays None or becomes zeros, on all ranks alike."""
    there = [gradient.key in rank.tensors for rank in ranks]
    for rank in ranks:
        # of whatever dtype and number of dimensions
        if gradient.key in rank.tensors and rank.tensors[gradient.key].reshape(-1).to(torch.complex128).any():
            return Mismatch(
                headline=f"no rank has a gradient of {gradient.name}, yet rank {rank.rank} ends with one that is not "
                f"zero{gradient.when}",
                ranks=(RankView(rank=rank.rank, got=show(rank.tensors[gradient.key]), expected="zeros, or None"),),
                hints=("was something left over from an earlier step?",),
            )
    if any(there) and not all(there):
        rows = [
            RankView(rank=rank.rank, got="zeros" if has else "None", wrong=not has)
            for rank, has in zip(ranks, there, strict=True)
        ]
        headline = f"the gradient of {gradient.name}, which no rank has, is None on some ranks only{gradient.when}"
        return Mismatch(headline=headline, ranks=tuple(rows))
    return None


def _absent(gradient: Gradient, ranks: Sequence[RankOutcome], member: int) -> Mismatch:
    others = [rank.rank for rank, own in zip(ranks, gradient.own, strict=True) if own is not None]
    whose = "its own was lost" if gradient.own[member] is not None else f"rank {others[0]} has one"
    rows = [_row(gradient, rank, own, 0) for rank, own in zip(ranks, gradient.own, strict=True)]
    return Mismatch(
        headline=f"rank {ranks[member].rank}'s gradient of {gradient.name} is None{gradient.when}, but {whose}",
        ranks=tuple(rows),
        hints=("a missing gradient counts as zeros, and the average belongs into it as well",),
    )


def _wrong(example: Replicas, gradient: Gradient, ranks: Sequence[RankOutcome], member: int, around: int) -> Mismatch:
    rows = [_row(gradient, rank, own, around) for rank, own in zip(ranks, gradient.own, strict=True)]
    assert gradient.expected is not None
    wrong = [
        m for m, row in enumerate(rows) if row.wrong and not why_incomparable(ranks[m], gradient.key, gradient.expected)
    ]
    hints = (hint for m in wrong for hint in _hints(example, gradient, m, ranks[m].tensors[gradient.key]))
    return Mismatch(
        headline=f"rank {ranks[member].rank}'s gradient of {gradient.name} is wrong{gradient.when}",
        ranks=tuple(rows),
        hints=tuple(itertools.islice(hints, 1)),
    )


def _row(gradient: Gradient, rank: RankOutcome, own: torch.Tensor | None, around: int) -> RankView:
    """A rank's gradient before and after, around the same element."""
    assert gradient.expected is not None
    given = "None" if own is None else show(own, around)
    if gradient.key not in rank.tensors:
        return RankView(
            rank=rank.rank, given=given, got="None", expected=show(gradient.expected.tensor(), around), wrong=True
        )
    if why_incomparable(rank, gradient.key, gradient.expected):
        return RankView(rank=rank.rank, given=given, got=show(rank.tensors[gradient.key]), wrong=True)
    got, expected = side_by_side(rank, gradient.key, gradient.expected, around)
    wrong = first_wrong(rank, gradient.key, gradient.expected) >= 0
    return RankView(rank=rank.rank, given=given, got=got, expected=expected, wrong=wrong)


def _out_of_step(gradient: Gradient, ranks: Sequence[RankOutcome]) -> Mismatch | None:
    first = ranks[0].tensors[gradient.key]
    for rank in ranks[1:]:
        other = rank.tensors[gradient.key]
        differing = (bits(first) != bits(other)).reshape(-1).nonzero()[0]
        if differing.size:
            at = int(differing[0])
            rows = [
                RankView(rank=r, got=f"element {at} is {tensor.reshape(-1)[at].item()!r}", wrong=True)
                for r, tensor in ((ranks[0].rank, first), (rank.rank, other))
            ]
            headline = (
                f"ranks {ranks[0].rank} and {rank.rank} end with gradients of {gradient.name} that differ in the last "
                f"bits{gradient.when}"
            )
            hint = "replicas that start to differ drift apart: all ranks need the sum of one and the same addition"
            return Mismatch(headline=headline, ranks=tuple(rows), hints=(hint,))
    return None


def _hints(example: Replicas, gradient: Gradient, member: int, got: torch.Tensor) -> Iterator[str]:
    """What the wrong gradient is instead, likeliest first."""
    for words, values in _suspects(example, gradient, member):
        if values.shape == got.shape and torch.count_nonzero(values) and _alike(got, values):
            yield words
    if got.isnan().any():
        yield "it has not-a-numbers, as on the simulated cluster every buffer on its way has: it was read before wait()"
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
