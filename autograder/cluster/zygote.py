"""The zygote: a process that has imported torch once, and forks ranks from itself in milliseconds.

It obeys the grader over one socket: start a group, sample it, signal it, kill it. It never runs student code. When the
grader is gone, however it went, the zygote kills every rank, removes the scratch folder and ends.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import pkgutil
import shutil
import signal
import socket
import subprocess
import sys
import traceback
from typing import Any

import msgspec
import torch

from autograder import drivers
from autograder.cluster import process
from autograder.cluster.rank import Spec
from autograder.cluster.rank import main as rank_main

FD_LIMIT = 512
# What autograd imports when a backward first begins at a given gradient: most of a second, in every rank.
LATE_IMPORTS = ("torch.fx.experimental.symbolic_shapes",)


class Zygote:
    """The ranks of every group that is alive."""

    def __init__(self, command: socket.socket, method: str) -> None:
        self._command = command
        self._method = method
        self._groups: dict[int, list[int]] = {}
        self._ends: dict[int, int] = {}

    def serve(self) -> None:
        """Obeys until the grader hangs up, also in the middle of an answer."""
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self._command.sendall(b'"ready"\n')
            self._obey()
        for group in list(self._groups):
            self.do_kill(group, [])

    def _obey(self) -> None:
        while True:
            data, fds, _, _ = socket.recv_fds(self._command, 1 << 16, FD_LIMIT)
            if not data:
                return
            while not data.endswith(b"\n"):
                data += self._command.recv(1 << 16)
            order = json.loads(data)
            answer = getattr(self, f"do_{order.pop('do')}")(fds=fds, **order)
            for fd in fds:
                os.close(fd)
            self._command.sendall(json.dumps(answer).encode() + b"\n")

    def do_start(self, group: int, specs: list[dict[str, Any]], fds: list[int]) -> list[int]:
        """Forks the ranks of a group. `fds` are the board, then each rank's control socket, then its fabric socket."""
        board, world_size = fds[0], len(specs)
        self._groups[group] = pids = []
        for rank, spec in enumerate(specs):
            mine = [board, *fds[1 + rank :: world_size]]
            pids.append(self._fork(spec, mine, fds) if self._method == "fork" else _spawn(spec, mine))
        return pids

    def do_sample(self, group: int, fds: list[int]) -> list[dict[str, Any]]:
        """For each rank: its exit status (None while it lives), processor seconds, and whether all its threads sleep."""
        return [self._sample(pid) for pid in self._groups[group]]

    def do_signal(self, group: int, number: int, fds: list[int]) -> None:
        for pid in self._groups[group]:
            if self._end(pid) is None:
                os.kill(pid, number)

    def do_kill(self, group: int, fds: list[int]) -> None:
        """Kills the ranks and whatever they started in their own process groups, and waits until they are gone."""
        pids = self._groups.pop(group)
        for pid in pids:
            for kill in (os.killpg, os.kill):
                try:
                    kill(pid, signal.SIGKILL)
                except (ProcessLookupError, PermissionError):
                    continue
        for pid in pids:
            if self._ends.pop(pid, None) is None:
                os.waitpid(pid, 0)

    def _fork(self, spec: dict[str, Any], mine: list[int], fds: list[int]) -> int:
        pid = os.fork()
        if pid:
            return pid
        status = 1
        try:
            self._command.close()
            for fd in set(fds) - set(mine):
                os.close(fd)
            process.die_with_parent()
            run_rank(spec, mine)
            status = 0
        except BaseException:
            traceback.print_exc()  # into the rank's output: the grader reads it if the group does not come up
        finally:
            os._exit(status)

    def _sample(self, pid: int) -> dict[str, Any]:
        end = self._end(pid)
        if end is not None:
            return {"end": end, "cpu": 0.0, "asleep": True}
        cpu, asleep = process.activity(pid)
        return {"end": None, "cpu": cpu, "asleep": asleep}

    def _end(self, pid: int) -> int | None:
        if pid not in self._ends:
            done, status = os.waitpid(pid, os.WNOHANG)
            if not done:
                return None
            self._ends[pid] = os.waitstatus_to_exitcode(status)
        return self._ends[pid]


def run_rank(spec: dict[str, Any], fds: list[int]) -> None:
    """Becomes a rank. `fds`: the board, the control socket, and the fabric's socket if it has one."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    board, control, *fabric = fds
    rank_main(
        msgspec.convert(spec, Spec),
        socket.socket(fileno=control),
        board,
        socket.socket(fileno=fabric[0]) if fabric else None,
    )


def _spawn(spec: dict[str, Any], fds: list[int]) -> int:
    """Starts a rank as a new interpreter, where forking after torch is unsafe (macOS)."""
    command = [sys.executable, "-m", "autograder.cluster.spawned", json.dumps(spec), json.dumps(fds)]
    return subprocess.Popen(command, pass_fds=fds).pid


def main() -> None:
    command_fd, method, scratch = int(sys.argv[1]), sys.argv[2], sys.argv[3]
    torch.set_num_threads(1)
    names = [driver.name for driver in pkgutil.iter_modules(drivers.__path__, "autograder.drivers.")]
    for name in (*names, *LATE_IMPORTS):
        importlib.import_module(name)  # once here, not once in every rank
    gc.collect()
    gc.freeze()
    try:
        Zygote(socket.socket(fileno=command_fd), method).serve()
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


if __name__ == "__main__":
    main()
