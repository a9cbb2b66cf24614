"""Judges one parameter's gradient on all ranks of a group."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from autograder.checks.compare import first_wrong, out_of_step, side_by_side, why_incomparable
from autograder.checks.finding import Mismatch, RankView
from autograder.checks.hints import first_hint
from autograder.checks.show import show
from autograder.cluster.outcome import Outcome, RankOutcome
from autograder.problems.data_parallel.expected import Gradient
from autograder.problems.data_parallel.hints import hints_for
from autograder.problems.data_parallel.replicas import Replicas


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
    return Mismatch(
        headline=f"rank {ranks[member].rank}'s gradient of {gradient.name} is wrong{gradient.when}",
        ranks=tuple(rows),
        hints=first_hint(*(hints_for(example, gradient, m, ranks[m].tensors[gradient.key]) for m in wrong)),
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
    rows = out_of_step(ranks, gradient.key)
    if not rows:
        return None
    first, second = (row.rank for row in rows)
    return Mismatch(
        headline=f"ranks {first} and {second} end with gradients of {gradient.name} that differ in the last "
        f"bits{gradient.when}",
        ranks=rows,
        hints=("replicas that start to differ drift apart: all ranks need the sum of one and the same addition",),
    )
