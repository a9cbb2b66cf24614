"""What one rank does with the student's pipeline: run its stage, and note every call and every backward of it."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn

from autograder.cluster.rank import Answer, Context
from autograder.problems.common.rank_side.layers import build
from autograder.problems.common.rank_side.training import LOSSES, load, state
from autograder.problems.pipeline_parallel.messages import (
    Cost,
    ForwardArguments,
    ForwardedReply,
    LossReply,
    RefusedReply,
    SplitArguments,
    SplitReply,
    StageArguments,
    SteppedReply,
    TrainArguments,
    grad_key,
    input_key,
    loss_key,
    output_key,
    parameter_key,
    target_key,
)
from autograder.protocol.operation import LARGEST


class Notes:
    """Forwards and backwards of a stage as they happen, by step: [["forward", "backward", ...], ...].

    On the simulated cluster, where alone they cost something, sleeping moves the virtual clock.
    """

    def __init__(self, cost: Cost) -> None:
        self.steps: list[list[str]] = []
        self._cost = cost

    def begin_step(self) -> None:
        self.steps.append([])

    def add(self, kind: str) -> None:
        self.steps[-1].append(kind)
        seconds = self._cost.forward if kind == "forward" else self._cost.backward
        if seconds:
            time.sleep(seconds)


class Stage(nn.Module):
    """A rank's layers. Only calling the module counts as a forward: its `forward` alone passes the hooks by."""

    def __init__(self, layers: nn.Module, notes: Notes) -> None:
        super().__init__()
        self.layers, self._notes = layers, notes
        self.register_forward_pre_hook(lambda *_: notes.add("forward"))

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = self.layers(x)
        if y.requires_grad:
            y.register_hook(lambda _: self._notes.add("backward"))  # type: ignore[no-untyped-call]  # torch's
        return y


def split(context: Context, arguments: SplitArguments) -> Answer:
    """Calls split_layers."""
    function = context.student("split_layers")
    try:
        result = function(arguments.layers, arguments.stages)
    except ValueError as error:
        return SplitReply(raised=str(error)), {}
    entries = result if isinstance(result, list | tuple) else []
    return SplitReply(type=type(result).__name__, entries=[_range(entry) for entry in entries]), {}


def _range(entry: object) -> tuple[str, list[int]]:
    if type(entry) is not range:
        return type(entry).__name__, []
    bounds = [entry.start, entry.stop, entry.step]
    return ("range", bounds) if all(abs(bound) < LARGEST for bound in bounds) else ("range of numbers beyond 2**53", [])


def forward(context: Context, arguments: ForwardArguments) -> Answer:
    """Calls pipeline_forward; the outputs come back, and the first stage's micro-batches as they are then."""
    group = context.group(arguments.group)
    function = context.student("pipeline_forward")
    if group is dist.GroupMember.NON_GROUP_MEMBER:
        return None, {}
    notes = Notes(arguments.stage.cost)
    stage = _stage(context, arguments.stage, notes)
    dtype = getattr(torch, arguments.stage.dtype)
    micro_batches = [context.tensors[input_key(i)].to(context.device) for i in range(arguments.inputs)]
    micro_batches += [torch.full(shape, torch.nan, dtype=dtype, device=context.device) for shape in arguments.buffers]
    notes.begin_step()
    result = function(stage, micro_batches, group=group)
    outputs = {output_key(i): output for i, output in enumerate(result if isinstance(result, list | tuple) else [])}
    inputs = {input_key(i): tensor for i, tensor in enumerate(micro_batches[: arguments.inputs])}
    return ForwardedReply(type(result).__name__, notes.steps), outputs | inputs


def train(context: Context, arguments: TrainArguments) -> Answer:
    """Makes a Pipeline and calls its step for each batch; each step's loss and gradients come back."""
    group = context.group(arguments.group)
    pipeline_class = context.student("Pipeline")
    if group is dist.GroupMember.NON_GROUP_MEMBER:
        return None, {}
    notes = Notes(arguments.stage.cost)
    stage = _stage(context, arguments.stage, notes)
    pipeline = _pipeline(context, arguments, pipeline_class, stage, group)
    losses: list[LossReply] = []
    results: dict[str, Any] = {}
    for step, batch_size in enumerate(arguments.batch_sizes):
        if arguments.zero:
            stage.zero_grad()
        notes.begin_step()
        inputs, targets = _given(context, input_key(step)), _given(context, target_key(step))
        loss = pipeline.step(batch_size, inputs=inputs, targets=targets)
        losses.append(LossReply(type(loss).__name__, bool(getattr(loss, "requires_grad", False))))
        if loss is not None:
            results[loss_key(step)] = loss
        grads = {name: parameter.grad for name, parameter in stage.layers.named_parameters()}
        results |= {grad_key(step, name): grad.clone() for name, grad in grads.items() if grad is not None}
    return SteppedReply(losses, notes.steps), results


def refuse(context: Context, arguments: TrainArguments) -> Answer:
    """Makes a Pipeline and calls its step once, as `train` does; tells the text of the ValueError, if it raised one."""
    group = context.group(arguments.group)
    pipeline_class = context.student("Pipeline")
    notes = Notes(arguments.stage.cost)
    notes.begin_step()
    try:
        pipeline = _pipeline(context, arguments, pipeline_class, _stage(context, arguments.stage, notes), group)
        inputs, targets = _given(context, input_key(0)), _given(context, target_key(0))
        pipeline.step(arguments.batch_sizes[0], inputs=inputs, targets=targets)
    except ValueError as error:
        return RefusedReply(str(error)), {}
    return RefusedReply(None), {}


def _stage(context: Context, arguments: StageArguments, notes: Notes) -> Stage:
    layers = build(arguments.layers)
    load(layers, {name: context.tensors[parameter_key(name)] for name in state(layers)})
    return Stage(layers.to(context.device), notes)


def _pipeline(
    context: Context, arguments: TrainArguments, pipeline_class: Callable[..., Any], stage: Stage, group: Any
) -> Any:
    example = None
    if arguments.example is not None:
        example = torch.zeros(arguments.example, dtype=getattr(torch, arguments.stage.dtype), device=context.device)
    loss = LOSSES[arguments.loss] if arguments.loss else None
    return pipeline_class(
        stage,
        loss,
        arguments.num_micro_batches,
        schedule=arguments.schedule,
        example_input=example,
        group=group,
    )


def _given(context: Context, key: str) -> Tensor | None:
    """The tensor of that name on the rank's device; None if the rank is given none."""
    tensor = context.tensors.get(key)
    return None if tensor is None else tensor.to(context.device)
