"""What one rank does with the student's collectives: call one of them, and show every argument after that."""

from __future__ import annotations

from typing import Any

import torch
import torch.distributed as dist

from autograder.cluster.package import is_stub
from autograder.cluster.rank import Answer, Context
from autograder.problems.collectives.messages import CallArguments, CallReply, Keywords, entry, of_call
from autograder.problems.common.rank_side.layouts import lay_out
from autograder.problems.common.rank_side.raising import name_of

Tensors = dict[str, torch.Tensor | list[torch.Tensor] | None]


def call(context: Context, arguments: CallArguments) -> Answer:
    """Calls the function with this rank's tensors, and shows them under the names that they came with."""
    group = context.group(arguments.group)
    function = context.student(arguments.function)
    if group is dist.GroupMember.NON_GROUP_MEMBER:
        return None, {}
    keywords = _keywords(arguments.keywords)
    calls = [_tensors(context, arguments, number) for number in range(arguments.calls)]
    # What the caller holds: a function may change the lists that it is given, and not what is looked at.
    held = {of_call(number, name): t for number, tensors in enumerate(calls) for name, t in _named(tensors).items()}
    raised = None
    for tensors in calls:
        try:
            function(*tensors.values(), **keywords, group=group)
        except Exception as error:
            if not arguments.must_raise or is_stub(error):
                raise
            raised = name_of(error, arguments.must_raise)
    return CallReply(raised), held


def _keywords(given: Keywords) -> dict[str, Any]:
    passed = {name: getattr(given, name) for name in given.__struct_fields__ if getattr(given, name) is not None}
    return passed | ({"op": getattr(dist.ReduceOp, given.op)} if given.op else {})


def _tensors(context: Context, arguments: CallArguments, number: int) -> Tensors:
    """The tensor arguments of one call; a list that this rank does not pass is None."""

    def made(name: str) -> torch.Tensor:
        return lay_out(context.tensors[of_call(number, name)].to(context.device), arguments.layout)

    return {
        name: made(name) if count is None else [made(entry(name, i)) for i in range(count)] or None
        for name, count in arguments.tensors.items()
    }


def _named(tensors: Tensors) -> dict[str, torch.Tensor]:
    """Every tensor by its name, those in lists too."""
    named: dict[str, torch.Tensor] = {}
    for name, value in tensors.items():
        if isinstance(value, torch.Tensor):
            named[name] = value
        else:
            named |= {entry(name, i): tensor for i, tensor in enumerate(value or [])}
    return named
