"""One rank: answers the grader's requests by running a problem's rank.py, until the grader hangs up.

This is where student code runs. Nothing in here is trusted by the grader.
"""

from __future__ import annotations

import contextlib
import faulthandler
import functools
import importlib
import mmap
import os
import resource
import signal
import socket
import sys
import typing
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import torch
import torch.distributed as dist
from torch._C._distributed_c10d import FileStore

from autograder.cluster.package import Missing, Package, Unimportable, is_stub
from autograder.fabric import callsite
from autograder.fabric.connect import join
from autograder.fabric.recorder import Recorder
from autograder.fabric.refusals import Refusals
from autograder.protocol import messages
from autograder.protocol.limits import Limits
from autograder.protocol.reply import NOTHING, Raised, Reply, TensorFacts
from autograder.protocol.request import Request
from autograder.protocol.status_board import Slot, size
from autograder.simulator import rank_side


class Spec(msgspec.Struct, frozen=True):
    """What a rank is started with. `folder` is the submission, `scratch` a folder of this group alone."""

    rank: int
    world_size: int
    backend: str
    folder: str
    scratch: str
    limits: Limits


class Files(NamedTuple):
    """Open files that the grader reads: the group's board, what this rank prints, and where it is (on SIGUSR1)."""

    board: int
    output: int
    stack: int


# What a function of rank.py answers: one of the problem's structs, and tensors by name (or what a student gave
# instead).
Answer = tuple[msgspec.Struct | None, dict[str, Any]]


class Context:
    """What a function of rank.py works with: the rank's place in the world, its inputs, the student's functions."""

    def __init__(self, spec: Spec, package: Package, device: torch.device, recorder: Recorder) -> None:
        self.rank, self.world_size, self.device = spec.rank, spec.world_size, device
        self._package, self._recorder = package, recorder
        self._groups: dict[tuple[int, ...], Any] = {}
        self.problem = ""
        self.tensors: dict[str, torch.Tensor] = {}

    def student(self, name: str) -> Any:
        """The submission's function or class of the present problem."""
        return self._package.function(self.problem, name)

    def operations_begun(self) -> int:
        """How many operations this rank has begun in this example: where in its record it is."""
        return self._recorder.count

    def group(self, ranks: list[int] | None) -> Any:
        """The process group of these global ranks (None: the whole world, as None); every rank has to ask for it."""
        if ranks is None:
            return None
        if tuple(ranks) not in self._groups:
            self._groups[tuple(ranks)] = dist.new_group(ranks)
        return self._groups[tuple(ranks)]


Function = Callable[[Context, Any], Answer]


def main(spec: Spec, control: socket.socket, files: Files, fabric: socket.socket | None = None) -> None:
    """Runs a rank to its end; returns when the grader hangs up."""
    _confine(spec, files)
    slot = Slot(mmap.mmap(files.board, size(spec.world_size)), spec.rank)
    callsite.configure([spec.folder])
    if fabric is None:
        recorder, simulation = Recorder(slot), None
    else:
        simulation = Simulation(fabric, spec)
        recorder = Recorder(slot, simulation.clock)
    store = FileStore(os.path.join(spec.scratch, "rendezvous"), spec.world_size)
    store.set_timeout(timedelta(minutes=10))
    device = join(spec.backend, store, spec.rank, spec.world_size, recorder, rank_side.create_group)
    context = Context(spec, Package(Path(spec.folder)), device, recorder)
    refusals = Refusals(recorder)
    slot.idle()
    control.sendall(messages.encode(Reply("ready"), {}))
    while True:
        try:
            head, body = messages.receive(control)
        except (EOFError, OSError):
            return
        request, tensors = messages.decode(head, body, Request)
        os.ftruncate(sys.stdout.fileno(), 0)
        refusals.begin(request.refused)
        if simulation is not None:
            simulation.begin()
        reply, results = _answer(request, tensors, context, recorder)
        if simulation is None:
            reply = msgspec.structs.replace(reply, operations=recorder.operations())
        else:
            simulation.finish(reply)  # the switch has seen the operations
        with contextlib.suppress(OSError):  # the file may be full: the student has been told by then
            sys.stdout.flush()
        slot.idle()
        control.sendall(_frame(reply, results))


class Simulation:
    """This rank's side of the simulated cluster: tells the switch when its example begins and how it ends."""

    def __init__(self, fabric: socket.socket, spec: Spec) -> None:
        rank_side.connect(fabric, spec.rank, spec.world_size)
        self.clock = rank_side.clock().read

    def begin(self) -> None:
        rank_side.begin()

    def finish(self, reply: Reply) -> None:
        how = "" if reply.status == "returned" else f"raised {reply.raised.type}" if reply.raised else "did not begin"
        with contextlib.suppress(Exception):  # a switch that has stopped the example has nothing left to hear
            rank_side.finish(how)


def _confine(spec: Spec, files: Files) -> None:
    """Own process group, limits, and output into a file that the grader shows the ends of."""
    os.setpgid(0, 0)
    os.chdir(spec.scratch)
    limits = spec.limits
    for what, most in (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, limits.output_bytes),
        (resource.RLIMIT_NOFILE, limits.open_files),
        *([] if spec.backend == "nccl" else [(resource.RLIMIT_AS, limits.memory_bytes)]),
    ):
        hard = resource.getrlimit(what)[1]
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        with contextlib.suppress(ValueError, OSError):  # macOS refuses some
            resource.setrlimit(what, (most, most))
    os.dup2(files.output, 1)
    os.dup2(files.output, 2)
    sys.stdout = open(1, "w", buffering=1, errors="replace", closefd=False)
    sys.stderr = open(2, "w", buffering=1, errors="replace", closefd=False)
    faulthandler.register(signal.SIGUSR1, file=files.stack, all_threads=False)
    sys.dont_write_bytecode = True


def _answer(
    request: Request, tensors: dict[str, torch.Tensor], context: Context, recorder: Recorder
) -> tuple[Reply, dict[str, torch.Tensor]]:
    """Runs one example; whatever the student's code raises becomes a reply."""
    context.problem, context.tensors = request.problem, tensors
    function, kind = _function(request.problem, request.function)
    arguments = msgspec.json.decode(request.arguments, type=kind)
    recorder.begin(request.allowed)
    value, missing, raised = NOTHING, "", None
    results: dict[str, Any] = {}
    try:
        answer, results = function(context, arguments)
        value = _raw(answer)
        if context.device.type == "cuda":
            torch.cuda.synchronize(context.device)
        status = "returned"
    except Missing as error:
        status, missing = "missing", str(error)
    except Unimportable as error:
        status, raised = "unimportable", context._package.raised(error.__cause__ or error)
    except Unsendable as error:
        status, raised, results = "raised", _unsendable(error.__cause__ or error), {}
    except BaseException as error:
        raised = context._package.raised(error)
        status = "not_attempted" if is_stub(error) else "raised"
    facts = {name: TensorFacts(_type_name(result), _device_type(result)) for name, result in results.items()}
    reply = Reply(status, value, missing, raised, refused=tuple(recorder.refused), tensors=facts)
    return reply, {name: result for name, result in results.items() if facts[name].type == "torch.Tensor"}


@functools.cache
def _function(problem: str, name: str) -> tuple[Function, type[msgspec.Struct]]:
    """A function of a problem's rank.py, and the struct that it takes."""
    function = getattr(importlib.import_module(f"autograder.problems.{problem}.rank"), name)
    return function, typing.get_type_hints(function)["arguments"]


class Unsendable(Exception):
    """What a student's function handed back has no form in a message; `__cause__` says why."""


def _raw(value: msgspec.Struct | None) -> msgspec.Raw:
    try:
        return msgspec.Raw(msgspec.json.encode(value))
    except Exception as error:
        raise Unsendable from error


def _unsendable(error: BaseException) -> Raised:
    return Raised(type(error).__name__, f"what came back cannot be sent to the grader: {error}")


def _frame(reply: Reply, results: dict[str, torch.Tensor]) -> bytes:
    """The reply to be sent; what cannot be put into a message becomes an exception of the submission's."""
    try:
        return messages.encode(reply, results)
    except Exception as error:
        return messages.encode(
            Reply("raised", raised=_unsendable(error), operations=reply.operations, refused=reply.refused), {}
        )


def _type_name(value: Any) -> str:
    """ "torch.Tensor" for exactly that, if it has a form in a message; else what it is."""
    if type(value) is not torch.Tensor:
        return type(value).__name__
    if messages.sendable(value):
        return "torch.Tensor"
    return f"tensor of {value.dtype}" if value.layout == torch.strided else f"tensor laid out as {value.layout}"


def _device_type(value: Any) -> str:
    return value.device.type if isinstance(value, torch.Tensor) else ""
