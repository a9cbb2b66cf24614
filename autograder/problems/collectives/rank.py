"""What one rank does with the student's collectives: call one of them, once or twice, and show every argument after it."""

from __future__ import annotations

from typing import Any

import torch
import torch.distributed as dist

from autograder.cluster.package import is_stub
from autograder.cluster.rank import Context
from autograder.problems.common.rank_side.layouts import lay_out
from autograder.problems.common.rank_side.raising import name_of


def call(context: Context) -> tuple[str | None, dict[str, Any]]:
    """Calls `function` with this rank's tensors; returns the name of what it raised, where it `must_raise` something.

    Arguments: `function`; `must_raise`; `group`, global ranks or None; `calls`, for each call the names of its tensor arguments in
    order, each with its layout and the number of tensors it lists (None: a tensor and no list); `keywords`, the rest.
    Tensors are named `call/argument` or `call/argument/index`, and come back under the same names.
    """
    arguments = context.arguments
    group = context.group(arguments["group"])
    function = context.student(arguments["function"])
    if group is dist.GroupMember.NON_GROUP_MEMBER:
        return None, {}
    keywords = _keywords(arguments["keywords"])
    calls = [_tensors(context, number, names) for number, names in enumerate(arguments["calls"])]
    raised = None
    for tensors in calls:
        try:
            function(*tensors.values(), **keywords, group=group)
        except Exception as error:
            if not arguments["must_raise"] or is_stub(error):
                raise
            raised = name_of(error, arguments["must_raise"])
    return raised, {
        name: tensor
        for number, tensors in enumerate(calls)
        for argument, value in tensors.items()
        for name, tensor in _named(f"{number}/{argument}", value)
    }


def _keywords(given: dict[str, Any]) -> dict[str, Any]:
    return {k: getattr(dist.ReduceOp, v) if k == "op" else v for k, v in given.items()}


def _tensors(context: Context, number: int, names: dict[str, Any]) -> dict[str, Any]:
    """The tensor arguments of one call; a list that this rank does not pass is None."""
    result: dict[str, Any] = {}
    for argument, (layout, count) in names.items():
        key = f"{number}/{argument}"
        if count is None:
            result[argument] = _place(context, key, layout)
        elif count:
            result[argument] = [_place(context, f"{key}/{i}", layout) for i in range(count)]
        else:
            result[argument] = None
    return result


def _place(context: Context, key: str, layout: str) -> torch.Tensor:
    return lay_out(context.tensors[key].to(context.device), layout)


def _named(name: str, value: Any) -> list[tuple[str, Any]]:
    if isinstance(value, list):
        return [(f"{name}/{i}", tensor) for i, tensor in enumerate(value)]
    return [] if value is None else [(name, value)]
