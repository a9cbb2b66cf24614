"""Recognises wrong values of a collective by what they are: the quickest way to the cause."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import torch

from autograder.checks.expected import Expected, same
from autograder.checks.hints import first_hint
from autograder.problems.collectives.examples import REDUCERS, Collective
from autograder.problems.collectives.expected import MEANINGS, Arguments


class Evidence:
    """A wrong tensor of one member: what it was before, what it is, and what every member's should be."""

    def __init__(
        self,
        example: Collective,
        before: list[Arguments],
        expected: list[dict[str, Expected]],
        member: int,
        argument: str,
        got: torch.Tensor,
    ) -> None:
        self.example, self.before, self.expected = example, before, expected
        self.member, self.argument, self.got = member, argument, got
        self.mine = expected[member][argument]

    def would_be(self, other: Expected | None) -> bool:
        """Whether these are the values that were expected elsewhere."""
        return other is not None and other.values.shape == self.mine.values.shape and not other.wrong(self.got).any()

    def close_to(self, values: torch.Tensor) -> bool:
        """Whether these are the values, by and large; False for all zeros, which are close to too much."""
        return bool(torch.count_nonzero(values)) and torch.allclose(self.got.double(), values.double(), rtol=1e-2)


def hints_for(evidence: Evidence) -> tuple[str, ...]:
    """The first explanation that fits, or none."""
    looks = (_unwritten, _another_rank, _another_op, _counted_wrong, _old_output, _tail, _zeros)
    return first_hint(*(look(evidence) for look in looks))


def _unwritten(e: Evidence) -> Iterator[str]:
    if e.would_be(same(e.before[e.member][e.argument])):
        seen = (
            ": the caller holds the tensors of the list, not what is put in their place" if "list" in e.argument else ""
        )
        yield f"it holds what it held before the call: the result was never written into it{seen}"


def _another_rank(e: Evidence) -> Iterator[str]:
    for other in range(e.example.size):
        if other != e.member and e.would_be(e.expected[other].get(e.argument)):
            yield f"these are the values that rank {e.example.ranks[other]} should have"


def _another_op(e: Evidence) -> Iterator[str]:
    if e.example.function in REDUCERS and e.example.op != "SUM":
        summed = MEANINGS[e.example.function](e.before, root=e.example.root, op="SUM")
        if e.would_be(summed[e.member].get(e.argument)):
            yield f"this is what op=SUM gives; op is {e.example.op}"


def _counted_wrong(e: Evidence) -> Iterator[str]:
    """A sum in which a rank's tensor counts twice, or not at all."""
    if e.example.function not in ("reduce", "all_reduce") or e.example.op != "SUM":
        return
    parts = [arguments["tensor"].double() for arguments in e.before]
    total = sum(parts, torch.zeros_like(parts[0]))
    ways: tuple[tuple[str, Callable[[torch.Tensor], torch.Tensor]], ...] = (
        ("with rank {}'s tensor counted twice", lambda part: total + part),
        ("without rank {}'s tensor", lambda part: total - part),
    )
    for words, count in ways:
        for rank, part in zip(e.example.ranks, parts, strict=True):
            if torch.count_nonzero(part) and e.close_to(count(part)):
                yield f"this is the sum {words.format(rank)}"


def _old_output(e: Evidence) -> Iterator[str]:
    sums = e.example.function == "reduce_scatter" and e.example.op == "SUM"
    if sums and e.close_to(e.mine.tensor().double() + e.before[e.member]["output"].double()):
        yield "this is the sum plus what output held before the call"


def _tail(e: Evidence) -> Iterator[str]:
    wrong = e.mine.wrong(e.got).reshape(-1)
    count, bad = wrong.size, int(np.count_nonzero(wrong))
    if 0 < bad < count and wrong[count - bad :].all() and count % e.example.size:
        which = "the last element is" if bad == 1 else f"the last {bad} elements are"
        yield f"only {which} wrong: {count} elements do not divide by {e.example.size} ranks"


def _zeros(e: Evidence) -> Iterator[str]:
    if e.got.numel() and not torch.count_nonzero(e.got) and e.mine.values.any():
        yield "it is all zeros: was the result computed into another buffer?"


# By collective: what a call that is right and costs too much has overlooked.
CHEAPER = {
    "broadcast": "a rank that has the tensor can pass it on, so that after each step twice as many ranks have it",
    "scatter": "each rank needs its own part only",
    "gather": "each part has to reach the root once",
    "reduce": "ranks can combine in pairs, so that after each step half as many partial results are left",
    "all_gather": (
        "each rank needs the other ranks' parts once: (n-1)/n of the output, all ranks sending at the same time"
    ),
    "reduce_scatter": "partial sums can travel, all ranks sending at the same time: (n-1)/n of the input is enough",
    "all_reduce": (
        "reduce the parts, then gather them, all ranks sending at the same time: 2(n-1)/n of the tensor is enough"
    ),
    "all_to_all": "each block goes to the one rank that it is for, and all ranks can send at the same time",
}
