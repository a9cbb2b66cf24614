"""What a check is: data. What must hold, on which examples, and who says so."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import msgspec
from hypothesis.strategies import SearchStrategy

from autograder.checks.finding import Mismatch
from autograder.cluster.outcome import Outcome

Judge = Callable[[Any, Outcome], Mismatch | None]
Comparison = Callable[[Any, Outcome, Outcome], tuple[dict[str, str], Mismatch | None]]
Spent = Callable[[Any, Outcome], dict[int, str]]
Strategies = Callable[[int], list[SearchStrategy[Any]]]
Drawn = SearchStrategy[Any] | list[SearchStrategy[Any]]
Drawing = Callable[[str, int], Drawn]


class Check(msgspec.Struct, frozen=True, kw_only=True):
    """One check: what must hold (`title`), on which examples (`strategies`, by world size), and who says so (`judge`).

    There is one strategy, or one for each kind of examples that every grading has to try. `judge` sees only outcomes in
    which every rank returned; everything else has failed before. `backends` are what an example is run on, one after
    the other: the simulated cluster ("sim"), and the one that is graded on ("real"). `weight` is what one example
    takes, where an ordinary one takes 1: the search for a smaller failure tries fewer of heavy ones. `needs_messages`:
    ranks cannot be right without what others have sent, so that a passed example is tried with zeroed payloads, too.
    `spent` tells in words, by rank, what an example took, where that is what the check is about: the reference's
    figures are shown beside the submission's. `compare` holds a passed example on the real backend against the
    reference's, run right after it: figures to tell, and what is wrong.
    """

    id: str
    title: str
    strategies: Strategies
    judge: Judge
    backends: tuple[str, ...] = ("real",)
    weight: int = 1
    needs_messages: bool = True
    spent: Spent | None = None
    compare: Comparison | None = None

    @property
    def problem(self) -> str:
        return self.id.partition(".")[0]


class Checks:
    """The checks of one problem, in the order in which its checks.py adds them."""

    def __init__(self, problem: str) -> None:
        self.problem = problem
        self._checks: list[Check] = []

    def __iter__(self) -> Iterator[Check]:
        return iter(self._checks)

    def add(
        self,
        name: str,
        tasks: tuple[str, ...],
        judge: Judge,
        backends: tuple[str, ...] = ("real",),
        weight: int = 1,
        needs_messages: bool = True,
        spent: Spent | None = None,
        compare: Comparison | None = None,
    ) -> Callable[[Drawing], Drawing]:
        """Makes checks `problem.task.name` of `drawing(task, world_size)`.

        Its docstring is the title, `{task}` filled in. It returns a strategy, or a list of them: examples of each are
        in every grading.
        """

        def decorate(drawing: Drawing) -> Drawing:
            title = (drawing.__doc__ or name).strip().splitlines()[0]
            self._checks += [
                Check(
                    id=f"{self.problem}.{task}.{name}",
                    title=title.format(task=task),
                    strategies=_strategies(drawing, task),
                    judge=judge,
                    backends=backends,
                    weight=weight,
                    needs_messages=needs_messages,
                    spent=spent,
                    compare=compare,
                )
                for task in tasks
            ]
            return drawing

        return decorate


def _strategies(drawing: Drawing, task: str) -> Strategies:
    """By world size, always as a list."""

    def strategies(world_size: int) -> list[SearchStrategy[Any]]:
        drawn = drawing(task, world_size)
        return drawn if isinstance(drawn, list) else [drawn]

    return strategies
