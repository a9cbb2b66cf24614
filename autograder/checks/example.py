"""What an example is, and what a claim is: the two things that a file of checks is made of."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import msgspec
import torch
from hypothesis.strategies import SearchStrategy

from autograder.cluster.outcome import Outcome
from autograder.cluster.simulated import Network
from autograder.report.model import RankView


class Call(msgspec.Struct, frozen=True):
    """What each rank is asked: the driver's function, its arguments in JSON and its tensors, all by rank.

    `network` is what it is simulated on, where it is.
    """

    driver: str
    arguments: tuple[dict[str, Any], ...]
    tensors: tuple[dict[str, torch.Tensor], ...]
    network: Network = Network()


class Description(msgspec.Struct, frozen=True):
    """An example in words: the call as a student would write it, the setting, and what each rank is given."""

    call: str
    setting: str
    given: tuple[str, ...]


class Mismatch(msgspec.Struct, frozen=True, kw_only=True):
    """What a judge found wrong. `ranks` need only what `Description` does not say: got, expected, note, wrong."""

    headline: str
    ranks: tuple[RankView, ...] = ()
    hints: tuple[str, ...] = ()
    where: tuple[str, ...] = ()


class Example(Protocol):
    """One drawn input of a check. Hashable, and equal to another exactly if it asks the ranks for the same."""

    world_size: int

    def call(self) -> Call:
        """What the ranks are given."""

    def describe(self) -> Description:
        """What a student is shown."""


Judge = Callable[[Any, Outcome], Mismatch | None]
Comparison = Callable[[Any, Outcome, Outcome], tuple[dict[str, str], Mismatch | None]]
Strategies = Callable[[int], list[SearchStrategy[Any]]]


class Claim(msgspec.Struct, frozen=True, kw_only=True):
    """One check: what must hold (`title`), on which examples (`strategies`, by world size), and who says so (`judge`).

    There is one strategy, or one for each kind of examples that every grading has to try.
    `judge` sees only outcomes in which every rank returned; everything else has failed before. `backends` are what
    an example is run on, one after the other: the simulated cluster ("sim"), and the one that is graded on ("real").
    `weight` is what one example takes, where an ordinary one takes 1: the search for a smaller failure tries fewer of heavy
    ones. `needs_messages`: ranks cannot be right without what others have sent, so that a passed example is tried with
    emptied messages, too. `spent` tells in words, by rank, what an example took, where that is what the claim is about: the
    reference's figures are shown beside the submission's. `compare` holds a passed example on the real backend against the
    reference's, run right after it: figures to tell, and what is wrong.
    """

    id: str
    title: str
    strategies: Strategies
    judge: Judge
    backends: tuple[str, ...] = ("real",)
    weight: int = 1
    needs_messages: bool = True
    spent: Callable[[Any, Outcome], dict[int, str]] | None = None
    compare: Comparison | None = None

    @property
    def problem(self) -> str:
        return self.id.partition(".")[0]
