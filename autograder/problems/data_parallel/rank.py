"""What one rank does in problem 3: shard, broadcast or average with the student's functions, or train with their class."""

from __future__ import annotations

import contextlib
import time
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn

from autograder.cluster.rank import Context
from autograder.problems.common.rank_side.raising import name_of
from autograder.problems.common.rank_side.training import MARKED, OPTIMIZERS, Network, load, loss, state, take_time

Answer = tuple[Any, dict[str, Any]]


class Interrupted(Exception):
    """What ends a no_sync() before its time."""


def shard(context: Context) -> Answer:
    """Calls shard_batch for this rank, and then as it must not be called.

    Tensors `batch/i`, and `odd` of another length; `tuple` says whether the batch is passed as one. `faults` are calls
    that must raise: a rank, and whether `odd` goes with the batch. Comes back: how the shard is made up, the name of each
    exception, and the tensors `shard/i` and `batch/i`.
    """
    arguments = context.arguments
    shard_batch = context.student("shard_batch")
    tensors = [context.tensors[f"batch/{i}"].to(context.device) for i in range(arguments["count"])]
    odd = context.tensors["odd"].to(context.device)
    batch = tuple(tensors) if arguments["tuple"] else tensors[0]
    result = shard_batch(batch, context.rank, context.world_size)
    raised = [
        _raises(shard_batch, (*tensors, odd) if with_odd else batch, rank, context.world_size)
        for rank, with_odd in arguments["faults"]
    ]
    pieces = result if isinstance(result, (tuple, list)) else [result]
    back = {f"shard/{i}": _copy(piece) for i, piece in enumerate(pieces)}
    back |= {f"batch/{i}": _copy(tensor) for i, tensor in enumerate(tensors)}
    return {"type": type(result).__name__, "raised": raised}, back


def _raises(function: Any, *arguments: Any) -> str:
    """The name of the exception that the call raises, ValueError for any kind of it; "" if it returns."""
    try:
        function(*arguments)
    except Exception as error:
        return name_of(error, "ValueError")
    return ""


def broadcast(context: Context) -> Answer:
    """Calls broadcast_parameters; comes back: the state and gradients after it, and which parameters are other objects."""
    group, function = context.group(context.arguments["group"]), context.student("broadcast_parameters")
    if group is dist.GroupMember.NON_GROUP_MEMBER:
        return None, {}
    network = _network(context)
    before = dict(network.named_parameters())
    function(network, src=context.arguments["src"], group=group)
    after = {f"state/{name}": _copy(tensor) for name, tensor in state(network).items()}
    return {"replaced": _replaced(before, network)}, after | _gradients(network, "grad")


def average(context: Context) -> Answer:
    """Calls average_gradients or average_gradients_flat on given gradients; comes back: the gradients after it."""
    group, function = context.group(context.arguments["group"]), context.student(context.arguments["function"])
    if group is dist.GroupMember.NON_GROUP_MEMBER:
        return None, {}
    network = _network(context)
    before = dict(network.named_parameters())
    function(network, group=group)
    return {"replaced": _replaced(before, network)}, _gradients(network, "grad")


def forward(context: Context) -> Answer:
    """Wraps a network that has a hook, and calls it with positional and with keyword arguments.

    Comes back: the outputs, how often the hook ran in each call, whether the network is still reachable.
    """
    network, calls = _network(context), []
    wrapped = context.student("DistributedDataParallel")(network)
    network.register_forward_hook(lambda *_: calls.append(1))
    rows, skipped = context.tensors["rows"].to(context.device), context.arguments["skipped"]
    outputs, counts = {}, []
    for number, (args, kwargs) in enumerate([((rows, skipped), {}), ((rows,), {"skipped": skipped}), ((rows,), {})]):
        calls.clear()
        outputs[f"output/{number}"] = _copy(wrapped(*args, **kwargs))
        counts.append(len(calls))
    return {"hooks": counts, "module": getattr(wrapped, "module", None) is network}, outputs


def train(context: Context) -> Answer:
    """Trains with DistributedDataParallel on this rank's rows, which are `rows/step/micro` and `target/step/micro`.

    Comes back: the state after the wrapping (`start/name`), after each step the gradients (`grad/step/name`, as
    synchronised) and parameters (`parameter/step/name`), and for each step how many operations had been begun before it,
    before its last micro-batch, at the end of that one's backward, and at the step's end; and the seconds from there to
    here; and buffers that each rank has marked as its own after the wrapping (`marked/number`). If `interrupted`, an
    exception leaves a no_sync() after the first step. On the simulated cluster backward takes `compute` seconds a layer.
    """
    arguments = context.arguments
    group, wrapper = context.group(arguments["group"]), context.student("DistributedDataParallel")
    if group is dist.GroupMember.NON_GROUP_MEMBER:
        return None, {}
    network = _network(context)
    if arguments["compute"]:
        take_time(network, arguments["compute"])
    before = dict(network.named_parameters())
    trained = [parameter for parameter in network.parameters() if parameter.requires_grad]
    optimizer = OPTIMIZERS[arguments["optimizer"]](trained)
    replica = wrapper(network, bucket_size_mb=arguments["cap"], group=group)
    back = {f"start/{name}": _copy(tensor) for name, tensor in state(network).items()}
    marked = [buffer.fill_(context.rank) for name, buffer in network.named_buffers() if name.endswith(MARKED)]
    begun, seconds = [], []
    for step, skipped in enumerate(arguments["skipped"]):
        start = time.monotonic()
        begun.append(_backward(context, replica, step, skipped))
        replica.finish_gradient_synchronization()
        seconds.append(time.monotonic() - start)
        begun[-1].append(context.operations_begun())
        back |= _gradients(network, f"grad/{step}")
        for parameter in trained:
            if parameter.grad is None:
                parameter.grad = torch.zeros_like(parameter)
        optimizer.step()
        back |= {f"parameter/{step}/{name}": _copy(p) for name, p in network.named_parameters()}
        for parameter in trained:  # as torch's zero_grad does
            parameter.grad = parameter.grad.zero_() if arguments["zeroed"] else None
        if arguments["interrupted"] and step == 0:
            with contextlib.suppress(Interrupted), replica.no_sync():
                raise Interrupted
    back |= {f"marked/{number}": _copy(buffer) for number, buffer in enumerate(marked)}
    return {"replaced": _replaced(before, network), "begun": begun, "seconds": seconds}, back


def _backward(context: Context, replica: Any, step: int, skipped: list[list[int]]) -> list[int]:
    """Forward and backward of a step's micro-batches, all but the last without synchronisation."""
    arguments, begun = context.arguments, [context.operations_begun()]
    for micro, left_out in enumerate(skipped):
        last = micro == len(skipped) - 1
        if last:
            begun.append(context.operations_begun())
        rows, target = (context.tensors[f"{name}/{step}/{micro}"].to(context.device) for name in ("rows", "target"))
        with contextlib.nullcontext() if last else replica.no_sync():
            # the average divides by the ranks, so each multiplies its part of the batch's mean
            mine = loss(replica(rows, left_out), target, arguments["rows"][step][micro]) * arguments["ranks"]
            if mine.requires_grad:
                mine.backward()
    return [*begun, context.operations_begun()]


def _network(context: Context) -> Network:
    """This rank's network with its own state and gradients: tensors `state/name` and, for those that exist, `grad/name`."""
    network = Network(context.arguments["layers"]).to(context.device)
    tensors = context.tensors
    load(network, {name: tensors[f"state/{name}"] for name in state(network)})
    for name, parameter in network.named_parameters():
        if f"grad/{name}" in tensors:
            parameter.grad = torch.empty_like(parameter).copy_(tensors[f"grad/{name}"])
    return network


def _gradients(network: nn.Module, prefix: str) -> dict[str, Any]:
    """The gradients that there are, by parameter."""
    named = network.named_parameters()
    return {f"{prefix}/{name}": _copy(parameter.grad) for name, parameter in named if parameter.grad is not None}


def _copy(tensor: Any) -> Any:
    """The tensor as it is now, in memory of its own; anything else as it is."""
    return tensor.detach().clone() if isinstance(tensor, Tensor) else tensor


def _replaced(before: dict[str, nn.Parameter], network: nn.Module) -> list[str]:
    """Names under which the network no longer has the same Parameter object."""
    after = dict(network.named_parameters())
    return [name for name, parameter in before.items() if after.get(name) is not parameter]
