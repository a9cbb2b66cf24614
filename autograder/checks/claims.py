"""Turns a function that draws examples into checks: one pytest item for each task that the claim is made of."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis.strategies import SearchStrategy

from autograder.checks.example import Claim, Comparison, Judge
from autograder.cluster.outcome import Outcome


def claim(
    problem: str,
    name: str,
    tasks: tuple[str, ...],
    judge: Judge,
    backends: tuple[str, ...] = ("real",),
    weight: int = 1,
    spent: Callable[[Any, Outcome], dict[int, str]] | None = None,
    compare: Comparison | None = None,
) -> Callable[[Callable[..., SearchStrategy[Any]]], Callable[..., None]]:
    """Makes checks `problem.task.name` of `strategy(task, world_size)`; its docstring is the title, `{task}` filled in."""

    def decorate(strategy: Callable[..., SearchStrategy[Any]]) -> Callable[..., None]:
        claims = [
            Claim(
                id=f"{problem}.{task}.{name}",
                title=(strategy.__doc__ or name).strip().splitlines()[0].format(task=task),
                strategy=lambda world_size, task=task: strategy(task, world_size),
                judge=judge,
                backends=backends,
                weight=weight,
                spent=spent,
                compare=compare,
            )
            for task in tasks
        ]

        @pytest.mark.parametrize("claim", [pytest.param(c, id=c.id) for c in claims])
        def check(claim: Claim, examiner: Any) -> None:
            examiner.examine(claim)

        check.__doc__ = strategy.__doc__
        return check

    return decorate
