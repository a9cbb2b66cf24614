"""Judges of what a rank holds: the shape of its parameters, how they were made and drawn, and sizes that it refuses."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch

from autograder.checks.example import Mismatch
from autograder.checks.examples.groups import Placed
from autograder.checks.examples.shards import Start
from autograder.cluster.outcome import Outcome, RankOutcome
from autograder.report.model import RankView


def shards(example: Start, outcome: Outcome) -> Mismatch | None:
    """Each rank made its own share and nothing larger, drawn as nn.Linear draws, unlike any other; the bias is zero."""
    for layer in range(2):
        shapes = [_of_layer(rank, "parameters", layer) for rank in outcome.ranks]
        mismatch = misshapen(example.slice_shapes(), outcome, shapes)
        if mismatch is not None:
            return mismatch
    for judge in (_whole_weight, _drawn_alike, _distribution, _bias, unrefused):
        mismatch = judge(example, outcome)
        if mismatch is not None:
            return mismatch
    return None


def _of_layer(rank: RankOutcome, name: str, layer: int) -> object:
    by_layer = value(rank, name)
    return by_layer[layer] if isinstance(by_layer, list) and len(by_layer) > layer else None


def _whole_weight(example: Start, outcome: Outcome) -> Mismatch | None:
    """Nothing larger than the share is made, or kept."""
    share = math.prod(example.sizes) // example.size
    for rank in outcome.ranks:
        made, kept = value(rank, "largest"), max(_of_layer(rank, "kept", layer) or 0 for layer in range(2))
        if max(made or 0, kept) <= share:
            continue
        what = "keeps more than its share of the weight" if kept > share else "makes more than its share of the weight"
        return Mismatch(
            headline=f"rank {rank.rank} {what}",
            ranks=(
                RankView(
                    rank=rank.rank,
                    got=f"a tensor of {max(made or 0, kept)} elements",
                    expected=f"at most its share, {share} elements",
                    wrong=True,
                ),
            ),
            hints=("a layer whose whole weight is too large for one rank could not even be started",),
        )
    return None


def _drawn_alike(example: Start, outcome: Outcome) -> Mismatch | None:
    """Slices have nothing in common, in one group."""
    for ranks in example.groups:
        drawn = [
            (rank, layer, outcome.ranks[rank].tensors.get(f"{layer}/weight")) for rank in ranks for layer in range(2)
        ]
        for i, (rank, layer, weight) in enumerate(drawn):
            if weight is None:
                return Mismatch(headline=f"rank {rank}'s weight did not come back")
            for other_rank, other_layer, other in drawn[:i]:
                if float((weight == other).double().mean()) > 0.01:
                    where = ("the first", "the second")
                    headline = (
                        f"rank {rank}'s slice in {where[layer]} layer has the same values as rank {other_rank}'s in "
                        f"{where[other_layer]}"
                    )
                    return Mismatch(
                        headline=headline,
                        hints=(
                            "all ranks have the same seed, as scripts do: without the rank in it all slices are the same; "
                            "with nothing but the rank in it all layers are",
                        ),
                    )
    return None


def _distribution(example: Start, outcome: Outcome) -> Mismatch | None:
    """Uniform within 1 / sqrt(in_features), as nn.Linear: the largest, the mean and the spread tell."""
    bound = 1 / math.sqrt(example.sizes[0])
    for rank in outcome.ranks:
        weight = rank.tensors["0/weight"].double()
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
        bias = rank.tensors.get("0/bias")
        if example.bias and (bias is None or bool(torch.count_nonzero(bias))):
            return Mismatch(headline=f"rank {rank.rank}'s bias does not start at zero")
    return None


def unrefused(example: Placed, outcome: Outcome) -> Mismatch | None:
    for rank in outcome.ranks:
        if value(rank, "refuses") is False:
            n = example.size
            return Mismatch(
                headline=f"{example.task} takes features that {n} ranks cannot share, where a ValueError is due",
                ranks=tuple(RankView(rank=r.rank, got="no ValueError", expected="ValueError") for r in outcome.ranks),
                hints=("whatever is left over by an integer division would be lost without a word",),
            )
    return None


def misshapen(expected: dict[str, list[int]], outcome: Outcome, by_rank: Sequence[object]) -> Mismatch | None:
    """Each rank holds its share of every parameter, and nothing else."""
    if all(shapes == expected for shapes in by_rank):
        return None
    rows = [
        RankView(rank=rank.rank, got=_parameters(shapes), expected=_parameters(expected), wrong=shapes != expected)
        for rank, shapes in zip(outcome.ranks, by_rank, strict=True)
    ]
    rank = next(row.rank for row in rows if row.wrong)
    return Mismatch(
        headline=f"rank {rank}'s parameters are not its share of the layer's",
        ranks=tuple(rows),
        hints=("a rank that holds the whole weight saves no memory: its parameters are its slices",),
    )


def _parameters(shapes: object) -> str:
    if not isinstance(shapes, dict):
        return "none"
    return ", ".join(f"{name} ({', '.join(map(str, shape))})" for name, shape in sorted(shapes.items())) or "none"


def value(rank: RankOutcome, name: str) -> object:
    return rank.value.get(name) if isinstance(rank.value, dict) else None
