"""What one rank does with the student's regions and layers: forward, backward, and how a layer looks when just made."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from autograder.cluster.rank import Answer, Context
from autograder.problems.common.rank_side.layouts import lay_out
from autograder.problems.common.rank_side.raising import refuses
from autograder.problems.tensor_parallel import messages
from autograder.problems.tensor_parallel.messages import (
    EXPANDED,
    SIBLING_GRADIENT,
    UPSTREAM,
    X_GRADIENT,
    BothWays,
    BothWaysReply,
    FunctionArguments,
    Groups,
    ModuleArguments,
    Shapes,
    StartArguments,
    StartReply,
    X,
    Y,
    gradient,
    of_call,
    started,
)

Tensors = dict[str, torch.Tensor]


def function(context: Context, arguments: FunctionArguments) -> Answer:
    """Calls a region or the network, whose weights are the parameters that are given, forward and backward."""
    both_ways = arguments.both_ways
    student, group = context.student(both_ways.task), _group(context, both_ways.groups)
    weights = {name: weight.requires_grad_() for name, weight in _parameters(context).items()}
    given = [list(weights.values())] if weights else []
    refused = False
    if arguments.indivisible:
        x = torch.ones(2, arguments.indivisible, device=context.device)
        refused = refuses(lambda: student(x, group=group))
    forward, backward, results = _both_ways(context, both_ways, lambda x: student(x, *given, group=group), weights)
    return BothWaysReply(forward, backward, refused), results


def module(context: Context, arguments: ModuleArguments) -> Answer:
    """Makes a module, gives it this rank's parameters, and runs it, if these are its parameters."""
    both_ways = arguments.both_ways
    student, group = context.student(both_ways.task), _group(context, both_ways.groups)
    with context.device:
        layer = student(*arguments.sizes, **arguments.keywords, group=group).to(torch.float64)
    own, given = dict(layer.named_parameters()), _parameters(context)
    shapes = _shapes(own)
    if shapes != _shapes(given):
        return BothWaysReply(parameters=shapes), {}
    with torch.no_grad():
        for name, parameter in own.items():
            parameter.copy_(given[name])
    forward, backward, results = _both_ways(context, both_ways, layer, own)
    return BothWaysReply(forward, backward, parameters=shapes), results


def start(context: Context, arguments: StartArguments) -> Answer:
    """Makes two modules from one seed, watching how large the tensors are that are made for them."""
    student, group = context.student(arguments.task), _group(context, arguments.groups)
    torch.manual_seed(arguments.seed)
    with context.device, _Watching() as watching:  # type: ignore[no-untyped-call]  # torch's own
        layers = [student(*arguments.sizes, bias=arguments.bias, group=group) for _ in range(2)]
    first, second = (dict(layer.named_parameters()) for layer in layers)
    sizes = arguments.indivisible
    reply = StartReply(
        parameters=(_shapes(first), _shapes(second)),
        kept=(_kept(first), _kept(second)),
        largest=watching.largest,
        refuses=sizes is not None and refuses(lambda: student(*sizes, group=group)),
    )
    return reply, {started(i, name): p.detach() for i, own in enumerate((first, second)) for name, p in own.items()}


def _both_ways(
    context: Context, arguments: BothWays, forward: Callable[[Any], Any], parameters: Tensors
) -> tuple[int, int, dict[str, Any]]:
    """Runs all inputs forward, then backward through all of them, the last one first.

    Each output is added to a leaf of its own, so that two branches are handed the same gradient. Back come how many
    operations forward and backward took; and outputs, gradients (those that are None do not), and what was handed over
    as it is afterwards.
    """
    calls = range(arguments.calls)
    xs = [_given(context, of_call(X, call), arguments.layout) for call in calls]
    for x in xs:
        x.requires_grad_(arguments.requires_grad)
    begun = context.operations_begun()
    ys = [forward(x) for x in xs]
    half = context.operations_begun()
    if any(not isinstance(y, torch.Tensor) for y in ys):
        return half - begun, 0, {of_call(Y, call): y for call, y in enumerate(ys)}
    results = {of_call(Y, call): y.detach().clone() for call, y in enumerate(ys)}
    siblings = [torch.zeros_like(y, requires_grad=True) for y in ys]
    after: dict[str, torch.Tensor | None] = {}
    for call in reversed(calls):
        both = ys[call] + siblings[call]
        if arguments.upstream == EXPANDED:
            both.sum().backward()
            continue
        upstream = _given(context, of_call(UPSTREAM, call), arguments.upstream)
        after[of_call(UPSTREAM, call)] = upstream
        # A result of another shape is wrong already; backward runs all the same, so that no rank waits for this one.
        fits = (upstream.shape, upstream.dtype) == (both.shape, both.dtype)
        given = upstream if fits else torch.zeros_like(both)
        _Handing.apply(both, given).backward()  # type: ignore[no-untyped-call]  # torch's own
    after |= {of_call(X, call): x for call, x in enumerate(xs)}
    after |= {of_call(X_GRADIENT, call): x.grad for call, x in enumerate(xs)}
    after |= {of_call(SIBLING_GRADIENT, call): sibling.grad for call, sibling in enumerate(siblings)}
    after |= {gradient(name): parameter.grad for name, parameter in parameters.items()}
    # Copies: two gradients may be one and the same tensor.
    results |= {name: tensor.detach().clone() for name, tensor in after.items() if tensor is not None}
    return half - begun, context.operations_begun() - half, results


def _group(context: Context, groups: Groups) -> Any:
    """This rank's group of the mesh; None for the whole world. Every rank takes part in making every group."""
    if groups is None:
        return None
    made = [context.group(list(ranks)) for ranks in groups]
    return next(group for group, ranks in zip(made, groups, strict=True) if context.rank in ranks)


def _given(context: Context, name: str, layout: str) -> torch.Tensor:
    return lay_out(context.tensors[name].to(context.device), layout)


def _parameters(context: Context) -> Tensors:
    return {name: given.to(context.device) for name, given in messages.parameters(context.tensors).items()}


def _shapes(parameters: Tensors) -> Shapes:
    return {name: list(parameter.shape) for name, parameter in parameters.items()}


def _kept(parameters: Tensors) -> int:
    return max((_elements(parameter) for parameter in parameters.values()), default=0)


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


class _Watching(TorchDispatchMode):  # type: ignore[no-untyped-call]  # torch's own
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
