"""What one rank does in problem 3: shard, broadcast, average with the student's functions, train with their class."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn

from autograder.cluster.rank import Answer, Context
from autograder.problems.common.rank_side.layers import Layer, Model
from autograder.problems.common.rank_side.raising import name_of
from autograder.problems.common.rank_side.training import MARKED, OPTIMIZERS, load, loss, state, take_time
from autograder.problems.data_parallel.messages import (
    ODD,
    ROWS,
    AverageArguments,
    Begun,
    BroadcastArguments,
    ForwardArguments,
    ReplacedReply,
    ShardArguments,
    ShardReply,
    TrainArguments,
    TrainedReply,
    WrappedReply,
    batch_key,
    grad_key,
    marked_key,
    output_key,
    parameter_key,
    rows_key,
    shard_key,
    start_key,
    state_key,
    synchronized_key,
    target_key,
)


class Interrupted(Exception):
    """What ends a no_sync() before its time."""


def shard(context: Context, arguments: ShardArguments) -> Answer:
    """Calls shard_batch for this rank, and then as it must not be called; the shard and the batch come back."""
    shard_batch = context.student("shard_batch")
    tensors = [context.tensors[batch_key(i)].to(context.device) for i in range(arguments.count)]
    odd = context.tensors[ODD].to(context.device)
    batch = tuple(tensors) if arguments.as_tuple else tensors[0]
    result = shard_batch(batch, context.rank, context.world_size)
    raised = [
        _raises(shard_batch, (*tensors, odd) if with_odd else batch, rank, context.world_size)
        for rank, with_odd in arguments.faults
    ]
    pieces = result if isinstance(result, (tuple, list)) else [result]
    back = {shard_key(i): _copy(piece) for i, piece in enumerate(pieces)}
    back |= {batch_key(i): _copy(tensor) for i, tensor in enumerate(tensors)}
    return ShardReply(type(result).__name__, raised), back


def _raises(function: Callable[..., object], *arguments: object) -> str:
    """The name of the exception that the call raises, ValueError for any kind of it; "" if it returns."""
    try:
        function(*arguments)
    except Exception as error:
        return name_of(error, "ValueError")
    return ""


def broadcast(context: Context, arguments: BroadcastArguments) -> Answer:
    """Calls broadcast_parameters; the state and the gradients after it come back."""
    group, function = context.group(arguments.group), context.student("broadcast_parameters")
    if group is dist.GroupMember.NON_GROUP_MEMBER:
        return None, {}
    model = _model(context, arguments.layers)
    before = dict(model.named_parameters())
    function(model, src=arguments.src, group=group)
    after = {state_key(name): _copy(tensor) for name, tensor in state(model).items()}
    gradients = {grad_key(name): _copy(grad) for name, grad in _gradients(model)}
    return ReplacedReply(_replaced(before, model)), after | gradients


def average(context: Context, arguments: AverageArguments) -> Answer:
    """Calls average_gradients or average_gradients_flat on given gradients; the gradients after it come back."""
    group, function = context.group(arguments.group), context.student(arguments.function)
    if group is dist.GroupMember.NON_GROUP_MEMBER:
        return None, {}
    model = _model(context, arguments.layers)
    before = dict(model.named_parameters())
    function(model, group=group)
    return ReplacedReply(_replaced(before, model)), {grad_key(name): _copy(grad) for name, grad in _gradients(model)}


def forward(context: Context, arguments: ForwardArguments) -> Answer:
    """Wraps a model that has a hook, and calls it with positional and with keyword arguments; the outputs come back."""
    model = _model(context, arguments.layers)
    calls: list[int] = []
    wrapped = context.student("DistributedDataParallel")(model)
    model.register_forward_hook(lambda *_: calls.append(1))
    rows, skipped = context.tensors[ROWS].to(context.device), arguments.skipped
    outputs, counts = [], []
    passed: list[tuple[tuple[Any, ...], dict[str, Any]]]
    passed = [((rows, skipped), {}), ((rows,), {"skipped": skipped}), ((rows,), {})]
    for args, kwargs in passed:
        calls.clear()
        outputs.append(_copy(wrapped(*args, **kwargs)))
        counts.append(len(calls))
    reply = WrappedReply((counts[0], counts[1], counts[2]), getattr(wrapped, "module", None) is model)
    return reply, {output_key(number): output for number, output in enumerate(outputs)}


def train(context: Context, arguments: TrainArguments) -> Answer:
    """Trains with DistributedDataParallel on this rank's rows.

    Comes back: the state after the wrapping, after each step the gradients, as synchronised, and the parameters, and
    buffers that each rank has marked as its own after the wrapping.
    """
    group, wrapper = context.group(arguments.group), context.student("DistributedDataParallel")
    if group is dist.GroupMember.NON_GROUP_MEMBER:
        return None, {}
    model = _model(context, arguments.layers)
    if arguments.compute:
        take_time(model, arguments.compute)
    before = dict(model.named_parameters())
    trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
    optimizer = OPTIMIZERS[arguments.optimizer](trained)
    replica = wrapper(model, bucket_size_mb=arguments.cap, group=group)
    back = {start_key(name): _copy(tensor) for name, tensor in state(model).items()}
    marked = [buffer.fill_(context.rank) for name, buffer in model.named_buffers() if name.endswith(MARKED)]
    begun: list[Begun] = []
    seconds: list[float] = []
    for step in range(len(arguments.rows)):
        start = time.monotonic()
        moments = _backward(context, arguments, replica, step)
        replica.finish_gradient_synchronization()
        seconds.append(time.monotonic() - start)
        begun.append((*moments, context.operations_begun()))
        back |= {synchronized_key(step, name): _copy(grad) for name, grad in _gradients(model)}
        for parameter in trained:
            if parameter.grad is None:
                parameter.grad = torch.zeros_like(parameter)
        optimizer.step()
        back |= {parameter_key(step, name): _copy(parameter) for name, parameter in model.named_parameters()}
        for parameter in trained:  # as torch's zero_grad does
            if arguments.zeroed and parameter.grad is not None:
                parameter.grad.zero_()
            else:
                parameter.grad = None
        if arguments.interrupted and step == 0:
            with contextlib.suppress(Interrupted), replica.no_sync():
                raise Interrupted
    back |= {marked_key(number): _copy(buffer) for number, buffer in enumerate(marked)}
    return TrainedReply(_replaced(before, model), begun, seconds), back


def _backward(context: Context, arguments: TrainArguments, replica: Any, step: int) -> tuple[int, int, int]:
    """Forward and backward of a step's micro-batches, all but the last without synchronisation.

    Tells how many operations had begun before them, before the last one, and after it.
    """
    first = before_last = context.operations_begun()
    skipped = arguments.skipped[step]
    for micro, left_out in enumerate(skipped):
        last = micro == len(skipped) - 1
        if last:
            before_last = context.operations_begun()
        rows, target = (context.tensors[key(step, micro)].to(context.device) for key in (rows_key, target_key))
        with contextlib.nullcontext() if last else _accumulating(replica, arguments.nested, micro):
            # the average divides by the ranks, so each multiplies its part of the batch's mean
            mine = loss(replica(rows, left_out), target, arguments.rows[step][micro]) * arguments.ranks
            if mine.requires_grad:
                torch.autograd.backward(mine)
    return first, before_last, context.operations_begun()


@contextlib.contextmanager
def _accumulating(replica: Any, nested: bool, micro: int) -> Iterator[None]:
    """no_sync(); if `nested`, backward runs in one inside of another, and in the outer one when the inner has ended."""
    with replica.no_sync():
        if nested and micro % 2 == 0:
            with replica.no_sync():
                yield
            return
        if nested:
            with replica.no_sync():
                pass
        yield


def _model(context: Context, layers: Sequence[Layer]) -> Model:
    """This rank's model with its own state, and those gradients that it is given."""
    model, tensors = Model(layers).to(context.device), context.tensors
    load(model, {name: tensors[state_key(name)] for name in state(model)})
    for name, parameter in model.named_parameters():
        if grad_key(name) in tensors:
            parameter.grad = torch.empty_like(parameter).copy_(tensors[grad_key(name)])
    return model


def _gradients(model: nn.Module) -> list[tuple[str, Any]]:
    """The gradients that there are, by parameter."""
    return [(name, parameter.grad) for name, parameter in model.named_parameters() if parameter.grad is not None]


def _copy(tensor: Any) -> Any:
    """The tensor as it is now, in memory of its own; anything else as it is."""
    return tensor.detach().clone() if isinstance(tensor, Tensor) else tensor


def _replaced(before: dict[str, nn.Parameter], model: nn.Module) -> list[str]:
    """Names under which the model no longer has the same Parameter object."""
    after = dict(model.named_parameters())
    return [name for name, parameter in before.items() if after.get(name) is not parameter]
