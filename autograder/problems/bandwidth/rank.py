"""What one rank does with the student's measurements: functions called, collectives timed, benchmarks run.

Numbers go back as text, `repr` of a float, for JSON knows neither infinity nor NaN; what is none as its type's name.
"""

from __future__ import annotations

import contextlib
import numbers
import time
from typing import Any

import torch

from autograder.cluster.rank import Context
from autograder.problems.common.rank_side.raising import refuses
from autograder.simulator.virtual_cuda import virtual_cuda

Answer = tuple[dict[str, Any], dict[str, Any]]


def figures(context: Context) -> Answer:
    """Calls `function` with each of `calls`, lists of arguments; `refused` are arguments that raise ValueError."""
    arguments = context.arguments
    student = context.student(arguments["function"])
    results = [student(*call) for call in arguments["calls"]]
    answer = {
        "results": [
            [_text(r) for r in result] if isinstance(result, tuple | list) else _text(result) for result in results
        ]
    }
    return answer | {"refuses": [refuses(lambda call=call: student(*call)) for call in arguments["refused"]]}, {}


def table(context: Context) -> Answer:
    """Formats `rows`, each the four numbers of a Measurement."""
    measurement = context.student("Measurement")
    text = context.student("format_table")([measurement(*row) for row in context.arguments["rows"]])
    return {"text": text if isinstance(text, str) else None, "type": type(text).__name__}, {}


def timing(context: Context) -> Answer:
    """Times a scripted collective, whose calls last exactly as long as the example says; see examples/timing.py."""
    script = context.arguments["script"]
    group, takes_part = _group(context)
    student = context.student("time_collective")
    if not takes_part:
        return {}, {}
    collective = Scripted(script, context, group)
    time.sleep(script["late"][context.rank])
    with virtual_cuda() if script["work"] else contextlib.nullcontext():
        seconds = student(
            collective,
            warmup=script["warmup"],
            iterations=script["iterations"],
            device=_device(script["device"]) if script["work"] else context.device,
            group=group,
        )
    return {"seconds": _text(seconds), "calls": collective.calls}, {}


def _device(words: str) -> str | torch.device:
    """The device that Python code of these words is: a string, or what torch.device makes of one."""
    name = words.split('"')[1]
    return torch.device(name) if words.startswith("torch.device") else name


class Scripted:
    """A collective that lasts as long as a script says; sleeping moves the virtual clock on the simulated cluster."""

    def __init__(self, script: dict[str, Any], context: Context, group: Any) -> None:
        self._script, self._rank, self._group = script, context.rank, group
        self._tensor = torch.zeros(script["nbytes"], dtype=torch.uint8, device=context.device)
        self.calls = 0

    def __call__(self) -> None:
        script, number = self._script, self.calls
        self.calls += 1
        factors = script["factors"]
        time.sleep(script["own"][self._rank] * factors[number % len(factors)])
        if number < script["slow"]:
            time.sleep(script["extra"])
        if script["work"]:
            _launch(script["work"])
        if script["nbytes"]:
            torch.distributed.all_reduce(self._tensor, group=self._group)
        if number == script["warmup"] - 1:
            time.sleep(script["apart"][self._rank])


def _launch(seconds: float) -> None:
    """Queues work on the virtual device."""
    from autograder.simulator import rank_side

    rank_side.clock().launch(seconds)


def rows(context: Context) -> Answer:
    """Runs `benchmark`; `refuses` says for each name of `refused` whether it raises ValueError."""
    arguments = context.arguments
    group, takes_part = _group(context)
    student = context.student("benchmark")
    if not takes_part:
        return {}, {}
    options = {
        "dtype": getattr(torch, arguments["dtype"]),
        "device": context.device,
        "group": group,
        "warmup": arguments["warmup"],
        "iterations": arguments["iterations"],
    }
    measured = student(arguments["collective"], arguments["sizes"], **options)
    return {
        "rows": [
            [_text(getattr(row, name)) for name in ("size_bytes", "seconds", "algbw", "busbw")] for row in measured
        ],
        "refuses": [
            refuses(lambda name=name: student(name, arguments["sizes"], **options)) for name in arguments["refused"]
        ],
    }, {}


def _group(context: Context) -> tuple[Any, bool]:
    """This rank's group of the mesh (None: the whole world), and whether it takes part: some groups only look on."""
    groups = context.arguments["groups"]
    if groups is None:
        return None, True
    made = [context.group(ranks) for ranks in groups]
    number = next(i for i, ranks in enumerate(groups) if context.rank in ranks)
    return made[number], number < context.arguments["active"]


def _text(value: Any) -> str:
    return repr(float(value)) if isinstance(value, numbers.Real) else type(value).__name__
