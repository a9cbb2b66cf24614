"""What one rank does with the student's regions and layers: forward, backward, and how a layer looks when just made."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from autograder.cluster.rank import Context
from autograder.problems.common.rank_side.layouts import lay_out
from autograder.problems.common.rank_side.raising import refuses

Answer = tuple[dict[str, Any], dict[str, Any]]


def function(context: Context) -> Answer:
    """Calls `task`, a region or the network, forward and backward; see `_both_ways`.

    Tensors "parameter/..." are the network's weights. `indivisible` are features that the group cannot share: the
    function is to refuse them (0: it is not asked).
    """
    arguments = context.arguments
    student, group = context.student(arguments["task"]), _group(context)
    weights = {name: weight.requires_grad_() for name, weight in _parameters(context).items()}
    given = [list(weights.values())] if weights else []
    answer = {}
    if arguments["indivisible"]:
        x = torch.ones(2, arguments["indivisible"], device=context.device)
        answer["refuses"] = refuses(lambda: student(x, group=group))
    value, results = _both_ways(context, lambda x: student(x, *given, group=group), weights)
    return answer | value, results


def module(context: Context) -> Answer:
    """Makes a module of class `task` with `sizes` and `keywords`, gives it this rank's parameters, and runs it.

    Where the parameters are not those that are given, their shapes are all that comes back.
    """
    arguments = context.arguments
    student, group = context.student(arguments["task"]), _group(context)
    with context.device:
        layer = student(*arguments["sizes"], **arguments["keywords"], group=group).to(torch.float64)
    own, given = dict(layer.named_parameters()), _parameters(context)
    answer = {"parameters": _shapes(own)}
    if answer["parameters"] != _shapes(given):
        return answer, {}
    with torch.no_grad():
        for name, parameter in own.items():
            parameter.copy_(given[name])
    value, results = _both_ways(context, layer, own)
    return answer | value, results


def start(context: Context) -> Answer:
    """Makes two modules of class `task` from one seed, watching how large the tensors are that are made for them.

    The answer has for each the shapes of its parameters and the elements that its weight keeps in memory; `largest` are
    the elements of the largest tensor made; `refuses` says whether sizes that cannot be shared were refused.
    """
    arguments = context.arguments
    student, group = context.student(arguments["task"]), _group(context)
    torch.manual_seed(arguments["seed"])
    with context.device, _Watching() as watching:
        layers = [student(*arguments["sizes"], bias=arguments["bias"], group=group) for _ in range(2)]
    named = [dict(layer.named_parameters()) for layer in layers]
    answer = {
        "parameters": [_shapes(parameters) for parameters in named],
        "kept": [max((_elements(p) for p in parameters.values()), default=0) for parameters in named],
        "largest": watching.largest,
    }
    if arguments["indivisible"]:
        answer["refuses"] = refuses(lambda: student(*arguments["indivisible"], group=group))
    return answer, {f"{i}/{name}": p.detach() for i, parameters in enumerate(named) for name, p in parameters.items()}


def _both_ways(context: Context, forward: Callable[[Any], Any], parameters: dict[str, torch.Tensor]) -> Answer:
    """Runs `calls` inputs forward, then backward through all of them, the last one first.

    Each output is added to a leaf of its own, so that two branches are handed the same gradient. Back come outputs,
    gradients (those that are None do not), and what was handed over as it is afterwards; `forward` and `backward` are
    how many operations that took.
    """
    arguments = context.arguments
    calls = range(arguments["calls"])
    xs = [_given(context, f"x/{call}", "layout").requires_grad_(arguments["requires_grad"]) for call in calls]
    begun = context.operations_begun()
    ys = [forward(x) for x in xs]
    half = context.operations_begun()
    if any(not isinstance(y, torch.Tensor) for y in ys):
        return {"forward": half - begun, "backward": 0}, {f"y/{call}": y for call, y in enumerate(ys)}
    results = {f"y/{call}": y.detach().clone() for call, y in enumerate(ys)}
    siblings = [torch.zeros_like(y, requires_grad=True) for y in ys]
    after: dict[str, torch.Tensor | None] = {}
    for call in reversed(calls):
        both = ys[call] + siblings[call]
        if arguments["upstream"] == "expanded":
            both.sum().backward()
            continue
        after[f"upstream/{call}"] = upstream = _given(context, f"upstream/{call}", "upstream")
        # A result of another shape is wrong already; backward runs all the same, so that no rank waits for this one.
        fits = (upstream.shape, upstream.dtype) == (both.shape, both.dtype)
        _Handing.apply(both, upstream if fits else torch.zeros_like(both)).backward()
    after |= {f"x/{call}": x for call, x in enumerate(xs)}
    after |= {f"x.grad/{call}": x.grad for call, x in enumerate(xs)}
    after |= {f"sibling.grad/{call}": sibling.grad for call, sibling in enumerate(siblings)}
    after |= {f"{name}.grad": parameter.grad for name, parameter in parameters.items()}
    # Copies: two gradients may be one and the same tensor.
    results |= {name: tensor.detach().clone() for name, tensor in after.items() if tensor is not None}
    return {"forward": half - begun, "backward": context.operations_begun() - half}, results


def _group(context: Context) -> Any:
    """This rank's group of the mesh; None for the whole world. Every rank takes part in making every group."""
    groups = context.arguments["groups"]
    if groups is None:
        return None
    made = [context.group(ranks) for ranks in groups]
    return next(group for group, ranks in zip(made, groups, strict=True) if context.rank in ranks)


def _given(context: Context, name: str, layout: str) -> torch.Tensor:
    layout = context.arguments[layout]
    return lay_out(context.tensors[name].to(context.device), layout)


def _parameters(context: Context) -> dict[str, torch.Tensor]:
    prefix = "parameter/"
    names = sorted(name for name in context.tensors if name.startswith(prefix))
    return {name.removeprefix(prefix): context.tensors[name].to(context.device) for name in names}


def _shapes(parameters: dict[str, torch.Tensor]) -> dict[str, list[int]]:
    return {name: list(parameter.shape) for name, parameter in parameters.items()}


def _elements(tensor: torch.Tensor) -> int:
    """The elements that the tensor keeps in memory, seen or not."""
    return tensor.untyped_storage().nbytes() // tensor.element_size()


class _Handing(torch.autograd.Function):
    """A loss with this very tensor as its gradient, layout and all: both.backward(upstream) would import sympy."""

    @staticmethod
    def forward(ctx: Any, both: torch.Tensor, upstream: torch.Tensor) -> torch.Tensor:
        ctx.upstream = upstream
        return both.new_zeros(())

    @staticmethod
    def backward(ctx: Any, _: torch.Tensor) -> tuple[torch.Tensor, None]:
        return ctx.upstream, None


class _Watching(TorchDispatchMode):
    """Notes the largest tensor of numbers that any operation gives; the state of a generator is none."""

    largest = 0

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        # torch would import its whole compiler (seconds) to keep it away from this class.
        return False

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        for tensor in result if isinstance(result, list | tuple) else (result,):
            if isinstance(tensor, torch.Tensor) and tensor.is_floating_point() and not tensor.is_meta:
                self.largest = max(self.largest, _elements(tensor))
        return result
