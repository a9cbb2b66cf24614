"""What one rank does with the student's measurements: functions called, collectives timed, benchmarks run."""

from __future__ import annotations

import contextlib
import functools
import io
import sys
import time
from collections.abc import Iterator
from typing import Any, TextIO

import torch

from autograder.cluster.rank import Answer, Context
from autograder.problems.bandwidth.messages import (
    FiguresArguments,
    FiguresReply,
    FitArguments,
    FitReply,
    Groups,
    Result,
    RowsArguments,
    RowsReply,
    TableArguments,
    TableReply,
    TimingArguments,
    TimingReply,
    text_of,
)
from autograder.problems.common.rank_side.raising import refuses
from autograder.simulator import rank_side
from autograder.simulator.virtual_cuda import virtual_cuda

CLOCKS_APART = 100.0  # seconds between the clocks of a rank and the next one
PRINTING = 0.5e-3  # seconds for a piece of text that is printed


def figures(context: Context, arguments: FiguresArguments) -> Answer:
    """Computes the figure of every collective."""
    student = context.student(arguments.function)
    results = [student(name, *arguments.rest) for name in arguments.collectives]
    refused = [refuses(functools.partial(student, name, *arguments.rest)) for name in arguments.refused]
    return FiguresReply([_result(result) for result in results], refused), {}


def fit(context: Context, arguments: FitArguments) -> Answer:
    """Fits latency and bandwidth."""
    student = context.student("fit_latency_bandwidth")
    result = student(arguments.sizes, arguments.seconds)
    refused = [refuses(functools.partial(student, *unfit)) for unfit in arguments.unfit]
    return FitReply(_result(result), refused), {}


def _result(result: Any) -> Result:
    return [text_of(each) for each in result] if isinstance(result, tuple | list) else text_of(result)


def table(context: Context, arguments: TableArguments) -> Answer:
    """Formats a table of Measurements."""
    measurement = context.student("Measurement")
    text = context.student("format_table")([measurement(*row) for row in arguments.rows])
    return TableReply(text if isinstance(text, str) else None, type(text).__name__), {}


def timing(context: Context, arguments: TimingArguments) -> Answer:
    """Times a scripted collective, whose calls last exactly as long as the example says."""
    group, takes_part = _group(context, arguments.groups, arguments.active)
    student = context.student("time_collective")
    if not takes_part:
        return None, {}
    collective = Scripted(arguments, context, group)
    time.sleep(arguments.late)
    with _machine_of_its_own(context.rank), virtual_cuda() if arguments.work else contextlib.nullcontext():
        seconds = student(
            collective,
            warmup=arguments.warmup,
            iterations=arguments.iterations,
            device=_device(arguments.device) if arguments.work else context.device,
            group=group,
        )
    return TimingReply(text_of(seconds), collective.calls), {}


@contextlib.contextmanager
def _machine_of_its_own(rank: int) -> Iterator[None]:
    """On the simulated cluster: clocks that do not agree with the other ranks', and output that takes its time."""
    if not rank_side.is_simulated():
        yield
        return
    rank_side.clock().ahead = CLOCKS_APART * rank
    try:
        with contextlib.redirect_stdout(SlowOutput(sys.stdout)):
            yield
    finally:
        rank_side.clock().ahead = 0.0


class SlowOutput(io.TextIOBase):
    """Writes to a stream; each piece takes `PRINTING` virtual seconds."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        rank_side.clock().spend(PRINTING)
        return self._stream.write(text)

    def flush(self) -> None:
        self._stream.flush()

    def writable(self) -> bool:
        return True


def _device(words: str) -> str | torch.device:
    """The device that Python code of these words is: a string, or what torch.device makes of one."""
    name = words.split('"')[1]
    return torch.device(name) if words.startswith("torch.device") else name


class Scripted:
    """A collective that lasts as long as a script says; sleeping moves the virtual clock on the simulated cluster."""

    def __init__(self, script: TimingArguments, context: Context, group: Any) -> None:
        self._script, self._group = script, group
        self._tensor = torch.zeros(script.nbytes, dtype=torch.uint8, device=context.device)
        self.calls = 0

    def __call__(self) -> None:
        script, number = self._script, self.calls
        self.calls += 1
        time.sleep(script.own * script.factors[number % len(script.factors)])
        if number < script.slow:
            time.sleep(script.extra)
        if script.work:
            rank_side.clock().launch(script.work)  # on the virtual device
        if script.nbytes:
            torch.distributed.all_reduce(self._tensor, group=self._group)
        if number == script.warmup - 1:
            time.sleep(script.apart)


def rows(context: Context, arguments: RowsArguments) -> Answer:
    """Runs a benchmark, and has others refused."""
    group, takes_part = _group(context, arguments.groups, arguments.active)
    student = context.student("benchmark")
    if not takes_part:
        return None, {}

    def run(collective: str) -> Any:
        return student(
            collective,
            arguments.sizes,
            dtype=getattr(torch, arguments.dtype),
            device=context.device,
            group=group,
            warmup=arguments.warmup,
            iterations=arguments.iterations,
        )

    measured = [
        (text_of(row.size_bytes), text_of(row.seconds), text_of(row.algbw), text_of(row.busbw))
        for row in run(arguments.collective)
    ]
    return RowsReply(measured, [refuses(functools.partial(run, name)) for name in arguments.refused]), {}


def _group(context: Context, groups: Groups, active: int) -> tuple[Any, bool]:
    """This rank's group of the mesh (None: the whole world), and whether it takes part: some groups only look on."""
    if groups is None:
        return None, True
    made = [context.group(list(ranks)) for ranks in groups]
    number = next(i for i, ranks in enumerate(groups) if context.rank in ranks)
    return made[number], number < active
