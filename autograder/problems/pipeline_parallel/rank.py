"""What one rank does with the student's pipeline: run its stage, and note every call and every backward of it."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn

from autograder.cluster.rank import Context
from autograder.problems.common.rank_side.layers import LOSSES, build
from autograder.protocol.operation import LARGEST


class Notes:
    """Forwards and backwards of a stage as they happen, by step: [["forward", "backward", ...], ...].

    `cost` is what each of the two takes, {"forward": seconds, "backward": seconds}. On the simulated cluster, where
    alone it is given, sleeping moves the virtual clock.
    """

    def __init__(self, cost: dict[str, float] | None) -> None:
        self.steps: list[list[str]] = []
        self._cost = cost

    def begin_step(self) -> None:
        self.steps.append([])

    def add(self, kind: str) -> None:
        self.steps[-1].append(kind)
        if self._cost is not None:
            time.sleep(self._cost[kind])


class Stage(nn.Module):
    """A rank's layers. Only calling the module counts as a forward: its `forward` alone passes the hooks by."""

    def __init__(self, layers: nn.Module, notes: Notes) -> None:
        super().__init__()
        self.layers, self._notes = layers, notes
        self.register_forward_pre_hook(lambda *_: notes.add("forward"))

    def forward(self, x: Tensor) -> Tensor:
        y = self.layers(x)
        if y.requires_grad:
            y.register_hook(lambda _: self._notes.add("backward"))
        return y


def split(context: Context) -> tuple[Any, dict[str, Any]]:
    """Calls split_layers(`layers`, `stages`); tells each entry's type and, of a range, start, stop and step."""
    function = context.student("split_layers")
    try:
        result = function(context.arguments["layers"], context.arguments["stages"])
    except ValueError as error:
        return {"raised": str(error)}, {}
    entries = result if isinstance(result, list | tuple) else []
    return {"type": type(result).__name__, "entries": [_range(entry) for entry in entries]}, {}


def _range(entry: Any) -> list[Any]:
    if type(entry) is not range:
        return [type(entry).__name__, []]
    bounds = [entry.start, entry.stop, entry.step]
    return ["range", bounds] if all(abs(bound) < LARGEST for bound in bounds) else ["range of numbers beyond 2**53", []]


def forward(context: Context) -> tuple[Any, dict[str, Any]]:
    """Calls pipeline_forward.

    Arguments: `group`; `layers`, this stage's, by number; `dtype`; `cost`; `buffers`, the shapes to receive into, None
    on the first stage, whose micro-batches are the tensors `input/i`. These come back, and the outputs as `output/i`.
    """
    arguments = context.arguments
    group = context.group(arguments["group"])
    function = context.student("pipeline_forward")
    if group is dist.GroupMember.NON_GROUP_MEMBER:
        return None, {}
    notes = Notes(arguments["cost"])
    stage = _stage(context, notes)
    shapes = arguments["buffers"]
    if shapes is None:
        micro_batches = _listed(context, "input")
    else:
        dtype = getattr(torch, arguments["dtype"])
        micro_batches = [torch.full(s, torch.nan, dtype=dtype, device=context.device) for s in shapes]
    notes.begin_step()
    result = function(stage, micro_batches, group=group)
    value = {"type": type(result).__name__, "events": notes.steps}
    outputs = enumerate(result if isinstance(result, list | tuple) else [])
    inputs = enumerate(micro_batches if shapes is None else [])
    return value, {f"output/{i}": t for i, t in outputs} | {f"input/{i}": t for i, t in inputs}


def train(context: Context) -> tuple[Any, dict[str, Any]]:
    """Makes a Pipeline and calls its step once for each of `batch_sizes`.

    Arguments: `group`, `layers`, `dtype`, `cost` as above; `loss`, a name on the last stage, elsewhere None; `example`,
    the shape of example_input or None; `num_micro_batches`, `schedule`; `zero`, whether gradients are zeroed between
    steps. Tensors: `input/i` and `target/i` for step i. Back come `loss/i` and `i/grad/parameter`.
    """
    arguments = context.arguments
    group = context.group(arguments["group"])
    pipeline_class = context.student("Pipeline")
    if group is dist.GroupMember.NON_GROUP_MEMBER:
        return None, {}
    notes = Notes(arguments["cost"])
    stage = _stage(context, notes)
    pipeline = _pipeline(context, pipeline_class, stage, group)
    losses, results = [], {}
    for step, batch_size in enumerate(arguments["batch_sizes"]):
        if arguments["zero"]:
            stage.zero_grad()
        notes.begin_step()
        loss = pipeline.step(batch_size, inputs=_given(context, "input", step), targets=_given(context, "target", step))
        losses.append({"type": type(loss).__name__, "requires_grad": bool(getattr(loss, "requires_grad", False))})
        if loss is not None:
            results[f"loss/{step}"] = loss
        grads = {name: parameter.grad for name, parameter in stage.layers.named_parameters()}
        results |= {f"{step}/grad/{name}": grad.clone() for name, grad in grads.items() if grad is not None}
    return {"losses": losses, "events": notes.steps}, results


def refuse(context: Context) -> tuple[Any, dict[str, Any]]:
    """Makes a Pipeline and calls its step once, as `train` does; tells the text of the ValueError, if it raised one."""
    arguments = context.arguments
    group = context.group(arguments["group"])
    pipeline_class = context.student("Pipeline")
    notes = Notes(None)
    notes.begin_step()
    try:
        pipeline = _pipeline(context, pipeline_class, _stage(context, notes), group)
        inputs, targets = _given(context, "input", 0), _given(context, "target", 0)
        pipeline.step(arguments["batch_sizes"][0], inputs=inputs, targets=targets)
    except ValueError as error:
        return {"raised": str(error)}, {}
    return {"raised": None}, {}


def _stage(context: Context, notes: Notes) -> Stage:
    layers = {int(number): layer for number, layer in context.arguments["layers"].items()}
    parameters = {n.removeprefix("parameter/"): t for n, t in context.tensors.items() if n.startswith("parameter/")}
    return Stage(build(layers, getattr(torch, context.arguments["dtype"]), parameters).to(context.device), notes)


def _pipeline(context: Context, pipeline_class: Callable[..., Any], stage: Stage, group: Any) -> Any:
    arguments = context.arguments
    example = arguments["example"]
    if example is not None:
        example = torch.zeros(example, dtype=getattr(torch, arguments["dtype"]), device=context.device)
    loss = LOSSES[arguments["loss"]] if arguments["loss"] else None
    micro_batches, schedule = arguments["num_micro_batches"], arguments["schedule"]
    return pipeline_class(stage, loss, micro_batches, schedule=schedule, example_input=example, group=group)


def _given(context: Context, name: str, step: int) -> Tensor | None:
    tensor = context.tensors.get(f"{name}/{step}")
    return None if tensor is None else tensor.to(context.device)


def _listed(context: Context, name: str) -> list[Tensor]:
    """`name/0`, `name/1`, ... as long as there are such."""
    count = sum(key.startswith(f"{name}/") for key in context.tensors)
    return [context.tensors[f"{name}/{i}"].to(context.device) for i in range(count)]
