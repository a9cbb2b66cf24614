"""The zygote: a process that has imported torch once, and forks ranks from itself in milliseconds.

It obeys the grader over one socket: start a group, sample it, signal it, kill it. It never runs student code, though
that runs beside it, in the same sandbox if there is one: what it says is believed for telling what happened, never for
credit. When the grader is gone, however it went, the zygote kills every rank and ends.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import traceback
from typing import Any

import msgspec
import torch

from autograder.cluster import sandbox
from autograder.cluster.rank import Files, Spec
from autograder.cluster.rank import main as rank_main
from autograder.system import process
from autograder.system.paths import ROOT

FD_LIMIT = 512
PROBLEMS = ROOT / "autograder" / "problems"
# What autograd imports when a backward first begins at a given gradient: most of a second, in every rank.
LATE_IMPORTS = ("torch.fx.experimental.symbolic_shapes",)
ORPHAN_ROUNDS = 100
MANY = 500  # orphans, more than a submission is allowed; whoever has so many may have any number


class Zygote:
    """The ranks of every group that is alive.

    `fds` are the zygote's own, closed in every rank; `is_isolated` says that no process here is anybody else's.
    """

    def __init__(self, fds: list[int], method: str, scratch: str, is_isolated: bool) -> None:
        self._fds = fds
        self._command = socket.socket(fileno=fds[0])
        self._method, self._scratch, self._is_isolated = method, scratch, is_isolated
        self._groups: dict[int, list[int]] = {}
        self._folders: dict[int, str] = {}
        self._ends: dict[int, int] = {}

    def serve(self) -> None:
        """Obeys until the grader hangs up, also in the middle of an answer."""
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self._command.sendall(b'"ready"\n')
            self._obey()
        for group in list(self._groups):
            self.do_kill(group, [])
        self._kill_orphan_processes()

    def _obey(self) -> None:
        while True:
            data, fds = b"", list[int]()
            while not data.endswith(b"\n"):
                piece, more, _, _ = socket.recv_fds(self._command, 1 << 16, FD_LIMIT)
                if not piece:
                    return
                data, fds = data + piece, fds + more
            order = json.loads(data)
            answer = getattr(self, f"do_{order.pop('do')}")(fds=fds, **order)
            for fd in fds:
                os.close(fd)
            self._command.sendall(json.dumps(answer).encode() + b"\n")

    def do_start(self, group: int, specs: list[dict[str, Any]], fds: list[int]) -> list[int]:
        """Forks the ranks of a group.

        `fds` are the board, then every rank's control socket, every rank's output, stack file, and fabric socket if
        any.
        """
        board, world_size = fds[0], len(specs)
        self._groups[group] = pids = []
        self._folders[group] = folder = tempfile.mkdtemp(prefix="group-", dir=self._scratch)
        for rank, spec in enumerate(specs):
            spec["scratch"] = folder
            mine = [board, *fds[1 + rank :: world_size]]
            pid = self._fork(spec, mine, fds) if self._method == "fork" else _spawn(spec, mine)
            self._ends.pop(pid, None)  # of an earlier process with this number
            pids.append(pid)
        return pids

    def do_sample(self, group: int, fds: list[int]) -> list[dict[str, Any]]:
        """For each rank its exit status (None while it lives), processor seconds, and whether all its threads sleep.

        And how many processes there are that no group knows.
        """
        orphans = len(self._orphan_processes())
        return [{**self._sample(pid), "orphans": orphans} for pid in self._groups[group]]

    def do_signal(self, group: int, number: int, fds: list[int]) -> None:
        for pid in self._groups[group]:
            if self._end(pid) is None:
                os.kill(pid, number)

    def do_kill(self, group: int, fds: list[int]) -> str:
        """Kills the ranks and all that they have started, and awaits their end; "all" if that took every group."""
        pids = self._groups.pop(group, [])
        for pid in pids:
            for kill in (os.killpg, os.kill):
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    kill(pid, signal.SIGKILL)
        for pid in pids:
            while self._end(pid) is None:
                time.sleep(0.001)
            del self._ends[pid]
        shutil.rmtree(self._folders.pop(group, ""), ignore_errors=True)
        return self._kill_orphan_processes()

    def _kill_orphan_processes(self) -> str:
        """Kills what ranks have left behind, however far it detached itself.

        In a sandbox all is killed but this process, at once, which no fork can outrun; elsewhere one after the other.
        """
        if self._is_isolated:
            if not self._orphan_processes():
                return ""
            with contextlib.suppress(ProcessLookupError):
                os.kill(-1, signal.SIGKILL)
            for other in list(self._groups):
                self._groups.pop(other)
                shutil.rmtree(self._folders.pop(other), ignore_errors=True)
            self._ends.clear()
            while _wait_for_any(0) is not None:
                continue
            return "all"
        for _ in range(ORPHAN_ROUNDS):
            orphans = self._orphan_processes()
            if not any(map(process.is_alive, orphans)):
                break
            for orphan in orphans:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(orphan, signal.SIGKILL)
            self._reap()
        return ""

    def _orphan_processes(self) -> list[int]:
        """Processes that ranks have started, `MANY` at most; orphans come to this process, which is their reaper.

        Also those that have ended and that nobody has waited for: enough of them would hide one that lives, and a bomb
        that has just been killed is nothing else for a while.
        """
        self._reap()
        ranks = {pid for pids in self._groups.values() for pid in pids}
        return [pid for pid in process.descendants(os.getpid(), len(ranks) + MANY) if pid not in ranks]

    def _fork(self, spec: dict[str, Any], mine: list[int], fds: list[int]) -> int:
        pid = os.fork()
        if pid:
            return pid
        status = 1
        try:
            for fd in {*fds, *self._fds} - set(mine):
                os.close(fd)
            process.die_with_parent()
            process.shut(False)  # as GPU libraries want it, whose processes share memory
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
        """The exit status of a rank that has ended, else None."""
        self._reap()
        return self._ends.get(pid)

    def _reap(self) -> None:
        """Takes note of every child that has ended: ranks, and orphans of theirs."""
        while (ended := _wait_for_any(os.WNOHANG)) is not None:
            pid, status = ended
            self._ends[pid] = os.waitstatus_to_exitcode(status)


def _wait_for_any(options: int) -> tuple[int, int] | None:
    """A child that has ended and its status; None if there is none."""
    try:
        pid, status = os.waitpid(-1, options)
    except ChildProcessError:
        return None
    return (pid, status) if pid else None


def run_rank(spec: dict[str, Any], fds: list[int]) -> None:
    """Becomes a rank. `fds`: the board, the control socket, two files, and the fabric's socket if it has one."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    board, control, output, stack, *fabric = fds
    rank_main(
        msgspec.convert(spec, Spec),
        socket.socket(fileno=control),
        Files(board, output, stack),
        socket.socket(fileno=fabric[0]) if fabric else None,
    )


def _spawn(spec: dict[str, Any], fds: list[int]) -> int:
    """Starts a rank as a new interpreter, where forking after torch is unsafe (macOS)."""
    command = [sys.executable, "-m", "autograder.cluster.spawned", json.dumps(spec), json.dumps(fds)]
    return subprocess.Popen(command, pass_fds=fds).pid


def _rank_modules() -> list[str]:
    """Of every problem the module that runs beside the student's code."""
    return [f"autograder.problems.{path.parent.name}.rank" for path in sorted(PROBLEMS.glob("*/rank.py"))]


def main() -> None:
    """The zygote's life; `python -m autograder.cluster.begin` starts it."""
    run(int(sys.argv[1]), int(sys.argv[2]), *sys.argv[3:6])


def run(command: int, held: int, method: str, scratch: str, tier: str) -> None:
    """Imports what ranks need, then obeys.

    `command` is the grader's socket, `held` what keeps its home from being swept.
    """
    torch.set_num_threads(1)
    process.adopt_orphans()
    process.shut()  # or a rank could take its socket, and command it
    if tier == sandbox.BUBBLEWRAP:  # elsewhere this would count all that the user runs
        resource.setrlimit(resource.RLIMIT_NPROC, (sandbox.TASKS, sandbox.TASKS))
    for name in (*_rank_modules(), *LATE_IMPORTS):
        importlib.import_module(name)  # once here, not once in every rank
    gc.collect()
    gc.freeze()
    process.outlive_parent()  # from here on the zygote ends by itself, and its ranks before it
    Zygote([command, held], method, scratch, tier == sandbox.BUBBLEWRAP).serve()
