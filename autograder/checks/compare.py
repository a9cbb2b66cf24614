"""Holds the tensors that came back against what they must be: type, device, shape and dtype before values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np
import torch

from autograder.checks.expected import bits
from autograder.checks.finding import RankView
from autograder.checks.show import show, show_dtype
from autograder.cluster.outcome import RankOutcome


class Expectation(Protocol):
    """What a tensor must hold."""

    values: np.ndarray
    dtype: torch.dtype

    def wrong(self, got: torch.Tensor) -> np.ndarray: ...
    def tensor(self) -> torch.Tensor: ...


def why_incomparable(rank: RankOutcome, name: str, expected: Expectation) -> str:
    """Why a tensor that came back cannot even be compared, as a clause after its name; "" if it can."""
    facts = rank.reply.tensors.get(name) if rank.reply else None
    if facts is None:
        return "did not come back"
    if facts.type != "torch.Tensor":
        return f"is a {facts.type}, not a torch.Tensor"
    if facts.device != rank.device:
        return f"is on {facts.device}, not on {rank.device}"
    got = rank.tensors.get(name)
    if got is None:
        return "did not come back"
    if tuple(got.shape) != tuple(expected.values.shape):
        return f"has shape {tuple(got.shape)}, expected {tuple(expected.values.shape)}"
    if got.dtype != expected.dtype:
        return f"has dtype {show_dtype(got.dtype)}, expected {show_dtype(expected.dtype)}"
    return ""


def first_wrong(rank: RankOutcome, name: str, expected: Expectation) -> int:
    """The flat position of the first wrong element, or -1."""
    wrong = np.flatnonzero(expected.wrong(rank.tensors[name]))
    return int(wrong[0]) if wrong.size else -1


def side_by_side(rank: RankOutcome, name: str, expected: Expectation, around: int) -> tuple[str, str]:
    """Got and expected, shown around the same element."""
    got: Mapping[str, torch.Tensor] = rank.tensors
    return (show(got[name], around) if name in got else "nothing"), show(expected.tensor(), around)


def out_of_step(ranks: Sequence[RankOutcome], name: str) -> tuple[RankView, ...]:
    """The first two ranks whose tensors of that name, alike in shape and dtype, differ in any bit; none if all agree.

    All NaNs count as one.
    Each is shown where they differ first.
    """
    first = ranks[0]
    for other in ranks[1:]:
        differing = np.flatnonzero(_differ(first.tensors[name], other.tensors[name]))
        if differing.size:
            at = int(differing[0])
            return tuple(
                RankView(rank=r.rank, got=f"element {at} is {r.tensors[name].reshape(-1)[at].item()!r}", wrong=True)
                for r in (first, other)
            )
    return ()


def _differ(one: torch.Tensor, other: torch.Tensor) -> np.ndarray:
    """Which elements differ in any bit."""
    both_nan = (one.isnan() & other.isnan()).numpy()
    differ: np.ndarray = (bits(one) != bits(other)) & ~both_nan
    return differ
