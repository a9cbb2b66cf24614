"""Turns a function that draws examples into checks: one pytest item for each task that the claim is made of."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis.strategies import SearchStrategy

from autograder.checks.example import Claim, Comparison, Judge
from autograder.cluster.outcome import Outcome

Drawn = SearchStrategy[Any] | list[SearchStrategy[Any]]


def claim(
    problem: str,
    name: str,
    tasks: tuple[str, ...],
    judge: Judge,
    backends: tuple[str, ...] = ("real",),
    weight: int = 1,
    needs_messages: bool = True,
    spent: Callable[[Any, Outcome], dict[int, str]] | None = None,
    compare: Comparison | None = None,
) -> Callable[[Callable[..., Drawn]], Callable[..., None]]:
    """Makes checks `problem.task.name` of `drawn(task, world_size)`; its docstring is the title, `{task}` filled in.

    It returns a strategy, or a list of them: examples of each are in every grading.
    """

    def decorate(drawn: Callable[..., Drawn]) -> Callable[..., None]:
        claims = [
            Claim(
                id=f"{problem}.{task}.{name}",
                title=(drawn.__doc__ or name).strip().splitlines()[0].format(task=task),
                strategies=lambda world_size, task=task: _several(drawn(task, world_size)),
                judge=judge,
                backends=backends,
                weight=weight,
                needs_messages=needs_messages,
                spent=spent,
                compare=compare,
            )
            for task in tasks
        ]

        @pytest.mark.parametrize("claim", [pytest.param(c, id=c.id) for c in claims])
        def check(claim: Claim, examiner: Any) -> None:
            examiner.examine(claim)

        check.__doc__ = drawn.__doc__
        return check

    return decorate


def _several(drawn: Drawn) -> list[SearchStrategy[Any]]:
    return drawn if isinstance(drawn, list) else [drawn]
