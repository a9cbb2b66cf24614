"""Judges of what a rank holds: the shape of its parameters, how they were made and drawn, and sizes that it refuses."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import torch

from autograder.checks.compare import why_incomparable
from autograder.checks.expected import same
from autograder.checks.finding import Mismatch, RankView
from autograder.checks.placement import SideBySide
from autograder.checks.replies import Unreadable, read
from autograder.cluster.outcome import Outcome
from autograder.problems.tensor_parallel.examples_shards import Start
from autograder.problems.tensor_parallel.messages import Shapes, StartReply, started

SEEDS = (
    "all ranks have the same seed, as scripts do: without the rank in it all slices are the same; with nothing but the "
    "rank in it all layers are"
)
DTYPES = (torch.float16, torch.bfloat16, torch.float32, torch.float64)


def shards(example: Start, outcome: Outcome) -> Mismatch | None:
    """Each rank made its own share and nothing larger, drawn as nn.Linear draws, unlike any other; the bias is zero."""
    replies = [read(rank, StartReply) for rank in outcome.ranks]
    for layer in range(2):
        mismatch = misshapen(example.slice_shapes(), [reply.parameters[layer] for reply in replies])
        if mismatch is not None:
            return mismatch
    return (
        _whole_weight(example, outcome, replies)
        or _unfit(example, outcome)
        or _drawn_alike(example, outcome)
        or _distribution(example, outcome)
        or _bias(example, outcome)
        or unrefused(example, [reply.refuses for reply in replies] if example.size > 1 else [])
    )


def _whole_weight(example: Start, outcome: Outcome, replies: Sequence[StartReply]) -> Mismatch | None:
    """Nothing larger than the share is made, or kept."""
    share = math.prod(example.sizes) // example.size
    for rank, reply in enumerate(replies):
        kept, largest = max(reply.kept), max(reply.largest, *reply.kept)
        if min(reply.largest, *reply.kept) < share:
            raise Unreadable(outcome.ranks[rank])  # nobody makes and keeps a share in less room
        if largest <= share:
            continue
        what = "keeps more than its share of the weight" if kept > share else "makes more than its share of the weight"
        return Mismatch(
            headline=f"rank {rank} {what}",
            ranks=(
                RankView(
                    rank=rank,
                    got=f"a tensor of {largest} elements",
                    expected=f"at most its share, {share} elements",
                    wrong=True,
                ),
            ),
            hints=("a layer whose whole weight is too large for one rank could not even be started",),
        )
    return None


def _unfit(example: Start, outcome: Outcome) -> Mismatch | None:
    """What came back are numbers in the shapes that were told."""
    for rank in outcome.ranks:
        for layer, (name, shape) in itertools.product(range(2), example.slice_shapes().items()):
            got = rank.tensors.get(started(layer, name))
            dtype = got.dtype if got is not None and got.dtype in DTYPES else torch.float32
            fault = why_incomparable(rank, started(layer, name), same(torch.empty(shape, dtype=dtype)))
            if fault:
                return Mismatch(headline=f"rank {rank.rank}'s {name} {fault}")
    return None


def _drawn_alike(example: Start, outcome: Outcome) -> Mismatch | None:
    """Slices have nothing in common, in one group."""
    for ranks in example.groups:
        places = itertools.product(ranks, range(2))
        drawn = [(rank, layer, outcome.ranks[rank].tensors[started(layer, "weight")]) for rank, layer in places]
        for i, (rank, layer, weight) in enumerate(drawn):
            for other_rank, other_layer, other in drawn[:i]:
                if float((weight == other).double().mean()) > 0.01:
                    where = ("the first", "the second")
                    return Mismatch(
                        headline=f"rank {rank}'s slice in {where[layer]} layer has the same values as rank "
                        f"{other_rank}'s in {where[other_layer]}",
                        hints=(SEEDS,),
                    )
    return None


def _distribution(example: Start, outcome: Outcome) -> Mismatch | None:
    """Uniform within 1 / sqrt(in_features), as nn.Linear: the largest, the mean and the spread tell."""
    bound = 1 / math.sqrt(example.sizes[0])
    for rank in outcome.ranks:
        weight = rank.tensors[started(0, "weight")].double()
        largest, mean, spread = weight.abs().max().item(), weight.mean().item(), weight.std().item()
        uniform = bound / math.sqrt(3)
        if largest <= bound * 1.0001 and abs(mean) < 0.1 * bound and 0.9 * uniform < spread < 1.1 * uniform:
            continue
        return Mismatch(
            headline=f"rank {rank.rank}'s weight is not uniform within 1 / sqrt(in_features)",
            ranks=(
                RankView(
                    rank=rank.rank,
                    got=f"largest {largest:.4g}, mean {mean:.2g}, standard deviation {spread:.4g}",
                    expected=f"largest {bound:.4g}, mean 0, standard deviation {uniform:.4g}",
                    wrong=True,
                ),
            ),
            hints=("in_features are those of the whole layer, not of the slice",),
        )
    return None


def _bias(example: Start, outcome: Outcome) -> Mismatch | None:
    for rank in outcome.ranks:
        if example.bias and rank.tensors[started(0, "bias")].any():
            return Mismatch(headline=f"rank {rank.rank}'s bias does not start at zero")
    return None


def unrefused(example: SideBySide, by_rank: Sequence[bool]) -> Mismatch | None:
    """Every rank refuses features that cannot be shared, where it is asked to: `by_rank` says whether it did."""
    if all(by_rank):
        return None
    rows = [
        RankView(rank=rank, got="ValueError" if did else "no ValueError", expected="ValueError", wrong=not did)
        for rank, did in enumerate(by_rank)
    ]
    return Mismatch(
        headline=f"{example.task} takes features that {example.size} ranks cannot share: expected ValueError",
        ranks=tuple(rows),
        hints=("whatever is left over by an integer division would be lost without a word",),
    )


def misshapen(expected: Shapes, by_rank: Sequence[Shapes]) -> Mismatch | None:
    """Each rank holds its share of every parameter, and nothing else."""
    if all(shapes == expected for shapes in by_rank):
        return None
    rows = [
        RankView(rank=rank, got=_parameters(shapes), expected=_parameters(expected), wrong=shapes != expected)
        for rank, shapes in enumerate(by_rank)
    ]
    rank = next(row.rank for row in rows if row.wrong)
    return Mismatch(
        headline=f"rank {rank}'s parameters are not its share of the layer's",
        ranks=tuple(rows),
        hints=("a rank that holds the whole weight saves no memory: its parameters are its slices",),
    )


def _parameters(shapes: Shapes) -> str:
    return ", ".join(f"{name} ({', '.join(map(str, shape))})" for name, shape in sorted(shapes.items())) or "none"
