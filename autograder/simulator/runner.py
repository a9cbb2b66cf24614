"""Runs a torch.distributed script on the simulated cluster: `python -m autograder run SCRIPT`.

This process keeps the switch and never runs the script. Each rank is a process forked from it, with RANK, WORLD_SIZE
and the like set, in which the script runs as __main__. Whatever backend the script asks for, it gets the simulated one.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import socket
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch

from autograder.simulator import script_rank, topology
from autograder.simulator.rank_report import RankReport
from autograder.simulator.switch import Switch
from autograder.system.process import signal_name

MAX_OPERATIONS_SHOWN = 40
# Real seconds that ranks get to end by themselves once there is a verdict.
GRACE = 2.0
LOOK_AGAIN = 0.02


def run_script(
    script: str,
    args: Sequence[str],
    world_size: int,
    topology: str,
    trace: str | None = None,
    buffered: bool = False,
    seed: int | None = None,
) -> int:
    """Runs `script` with `args` on `world_size` ranks and prints what each did, or what is wrong.

    `topology` is a name or a TOML file, `trace` a file for a Chrome trace, `buffered` lets sends not wait for their
    receives, `seed` draws an adversarial schedule. Returns the exit status: 0 if all is well, 1 if not, 2 for wrong
    usage, 130 after Ctrl-C.
    """
    try:
        wires = _topology(script, world_size, topology)
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    torch.set_num_threads(1)
    switch = Switch(world_size, wires, buffered=buffered, seed=seed)
    ranks: list[Process] = []
    try:
        for rank in range(world_size):
            ranks.append(start(script, args, rank, world_size, ranks))
            switch.attach(rank, ranks[rank].fabric)
        watch(switch, ranks)
    except KeyboardInterrupt:
        print("stopped", file=sys.stderr)
        return 130
    finally:
        for process in ranks:
            process.kill()
        switch.detach()
    if trace is not None:
        Path(trace).write_text(switch.trace(), encoding="utf-8")
    print(f"\n{switch.verdict}" if switch.verdict else "\n" + table(switch.report()))
    return 1 if switch.verdict or any(process.status for process in ranks) else 0


def _topology(script: str, world_size: int, name: str) -> topology.Topology:
    """The topology of that name; raises ValueError, in words for the user, if any of the arguments is wrong."""
    if not Path(script).is_file():
        raise ValueError(f"there is no file {script}")
    if world_size < 1:
        raise ValueError("the world size must be at least 1")
    return topology.load(name)


@dataclass
class Process:
    """A rank's process, the switch's end of its connection, and the reading end of its output."""

    rank: int
    pid: int
    fabric: socket.socket
    output: int
    line: bytes = b""
    status: int | None = None  # of waitpid; None while it lives

    def reap(self) -> bool:
        """Whether the process has ended."""
        if self.status is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            self.status = status if pid else None
        return self.status is not None

    def how(self) -> str:
        """How it ended, to continue "rank 2 ..."."""
        code = os.waitstatus_to_exitcode(self.status or 0)
        return f"was killed by {signal_name(-code)}" if code < 0 else f"left with exit status {code}"

    def print(self, data: bytes) -> None:
        """Shows output line by line, with the rank in front; b"" is the end of it."""
        *lines, self.line = (self.line + data).split(b"\n")
        if not data and self.line:
            lines.append(self.line)
        for line in lines:
            print(f"[rank {self.rank}] {line.decode(errors='replace')}", flush=True)

    def kill(self) -> None:
        """Ends it, with whatever it has started, and closes what belongs to it."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)
        if self.status is None:
            _, self.status = os.waitpid(self.pid, 0)
        self.fabric.close()
        os.close(self.output)


def start(script: str, args: Sequence[str], rank: int, world_size: int, others: Sequence[Process]) -> Process:
    """Forks one rank."""
    ours, theirs = socket.socketpair()
    output, write_end = os.pipe()
    sys.stdout.flush()
    pid = os.fork()
    if pid == 0:
        for other in others:
            other.fabric.close()
            os.close(other.output)
        ours.close()
        os.close(output)
        script_rank.main(script, args, rank, world_size, theirs, write_end)
    theirs.close()
    os.close(write_end)
    with contextlib.suppress(PermissionError, ProcessLookupError):  # it has done so itself, or is gone
        os.setpgid(pid, pid)
    return Process(rank, pid, ours, output)


def watch(switch: Switch, ranks: Sequence[Process]) -> None:
    """Serves the switch and shows the ranks' output until all have ended."""
    deadline = None
    with selectors.DefaultSelector() as selector:
        selector.register(switch, selectors.EVENT_READ)
        for process in ranks:
            selector.register(process.output, selectors.EVENT_READ, process)
        closing: set[int] = set()
        while any(process.status is None for process in ranks) or len(selector.get_map()) > 1:
            if switch.verdict and deadline is None:
                deadline = time.monotonic() + GRACE
            if deadline is not None and time.monotonic() > deadline:
                return
            for key, _ in selector.select(LOOK_AGAIN if closing or deadline else None):
                if key.data is None:
                    closing.update(switch.on_ready())
                    continue
                data = os.read(key.fd, 1 << 16)
                key.data.print(data)
                if not data:
                    selector.unregister(key.fd)
                    closing.add(key.data.rank)
            for rank in [rank for rank in closing if ranks[rank].reap()]:
                closing.discard(rank)
                if not switch.has_finished(rank):
                    switch.died(rank, ranks[rank].how())


def table(reports: Sequence[RankReport]) -> str:
    """What each rank did, operation by operation."""
    lines = []
    for report in reports:
        lines.append(
            f"rank {report.rank}: {_time(report.seconds)} virtual; "
            f"sent {_count(report.messages_sent, report.bytes_sent)}, "
            f"received {_count(report.messages_received, report.bytes_received)}"
        )
        for operation in report.operations[:MAX_OPERATIONS_SHOWN]:
            peer = "" if operation.peer < 0 else f"{'to' if operation.kind == 'send' else 'from'} {operation.peer}"
            place = f"{os.path.basename(operation.file)}:{operation.line}"
            lines.append(
                f"  {operation.api or operation.kind:<20} {peer:<8} {operation.nbytes:>12,} B  "
                f"{_time(operation.start):>12} to {_time(operation.end):>12}  {place}"
            )
        hidden = len(report.operations) - MAX_OPERATIONS_SHOWN
        if hidden > 0:
            lines.append(f"  ... and {hidden} more")
    return "\n".join(lines)


def _count(messages: int, nbytes: int) -> str:
    return f"{messages} message{'' if messages == 1 else 's'} ({nbytes:,} B)"


def _time(seconds: float) -> str:
    return f"{seconds * 1e6:,.3f} us" if seconds >= 0 else "never"
