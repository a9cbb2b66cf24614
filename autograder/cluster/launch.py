"""Starts the zygote. Imports nothing heavy, so that the zygote imports torch before the grader itself has begun to."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from autograder.cluster import cgroup, sandbox
from autograder.protocol.limits import Limits
from autograder.system.paths import ROOT

METHOD = "spawn" if sys.platform == "darwin" else "fork"
KEPT = ("PATH", "LANG", "LC_ALL", "CUDA_VISIBLE_DEVICES", "LD_LIBRARY_PATH")
ANSWER_SECONDS = 600.0  # however loaded the machine
END_SECONDS = 10.0
# Waits for the end of everybody who holds the other end of its input, then removes the folder, and the control group,
# which is there for a moment longer than its last process.
SWEEP = (
    """cat >/dev/null; rm -rf -- "$0"; for _ in 1 2 3 4 5; do test -d "$1" || break; rmdir "$1" || sleep 0.1; done"""
)


class Process(Protocol):
    """What is needed of a subprocess.Popen."""

    pid: int

    def wait(self, timeout: float | None = None) -> int: ...
    def kill(self) -> None: ...


class NoSandbox(Exception):
    """A submission is to be isolated, and this machine cannot do that; the text says what to do."""


class Home:
    """A temporary folder of the grader's, gone when the grader and its zygotes are, however they ended.

    `submissions` is for what is graded, `ranks` for what ranks that are not isolated write, `files` for the grader's
    own. `group` is where a control group for its sandboxes would be.
    """

    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(prefix="grading-"))
        for name in ("submissions", "ranks", "files"):
            (self.path / name).mkdir()
        self.group = cgroup.place(self.path.name)
        reading, self.held = os.pipe()
        sweep = ["sh", "-c", SWEEP, str(self.path), str(self.group or "")]
        self._sweeper = subprocess.Popen(sweep, stdin=reading, stderr=subprocess.DEVNULL, start_new_session=True)
        os.close(reading)

    def end(self) -> None:
        """Removes the folder; zygotes must have ended."""
        os.close(self.held)
        _await_end(self._sweeper)
        shutil.rmtree(self.path, ignore_errors=True)  # should the sweeper have been too slow


@dataclass
class Zygote:
    """A zygote that is coming up: its process (the sandbox's, if there is one), and the socket for its commands."""

    process: Process
    command: socket.socket

    def end(self) -> None:
        """Hangs up: the zygote kills all ranks and ends."""
        self.command.close()
        _await_end(self.process)


def _await_end(process: Process) -> None:
    """Waits for a process that is about to end, and kills it if it does not."""
    try:
        process.wait(END_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


@dataclass(frozen=True)
class Start:
    """How zygotes are started: ranks by `fork`, or by `spawn` where forking after torch is unsafe; isolated or not."""

    limits: Limits
    isolated: bool = False
    gpus: bool = False
    method: str = METHOD

    @property
    def tier(self) -> str:
        return sandbox.BUBBLEWRAP if self.isolated else sandbox.PLAIN

    def launch(self) -> tuple[Home, Zygote]:
        """A home and its first zygote. Should nobody come to own them, they end with this process."""
        home = Home()
        return home, self.zygote(home)

    def zygote(self, home: Home) -> Zygote:
        """Starts one, whose ranks see the submissions in `home`."""
        ours, theirs = socket.socketpair()
        ours.settimeout(ANSWER_SECONDS)
        scratch = sandbox.TEMPORARY if self.isolated else str(home.path / "ranks")
        fds = [theirs.fileno(), home.held]
        argv = [sys.executable, "-P", "-m", "autograder.cluster.begin", *map(str, fds), self.method, scratch, self.tier]
        if self.isolated:
            argv = sandbox.command(argv, self.limits, [str(home.path / "submissions")], self.gpus)
            if home.group is not None and cgroup.make(home.group, sandbox.TASKS):
                argv = cgroup.entering(home.group, argv)
        with theirs:
            process = subprocess.Popen(
                argv,
                pass_fds=fds,
                env=self.environment(scratch),
                cwd="/" if self.isolated else scratch,
                stdin=subprocess.DEVNULL,
                start_new_session=True,
            )
        return Zygote(process, ours)

    def environment(self, scratch: str) -> dict[str, str]:
        """What ranks see of the environment: nothing of the grader's own."""
        return {
            **{name: os.environ[name] for name in KEPT if name in os.environ},
            **{name: value for name, value in os.environ.items() if name.startswith(("NCCL_", "OPENBLAS_"))},
            "HOME": scratch,
            "TMPDIR": scratch,
            "USER": "student",
            "PYTHONPATH": str(ROOT),
            "PYTHONDONTWRITEBYTECODE": "1",
            "OMP_NUM_THREADS": "1",
            "GLOO_SOCKET_IFNAME": "lo0" if sys.platform == "darwin" else "lo",
            "TORCH_CPP_LOG_LEVEL": "FATAL",
        }


def start(limits: Limits, isolate: bool, backend: str) -> Start:
    """How the ranks of a grading are started; raises NoSandbox if they are to be isolated and cannot be."""
    reason = sandbox.unavailable() if isolate else ""
    if reason:
        raise NoSandbox(f"{reason} For code that you trust as your own: --no-isolate (make grade ISOLATE=no).")
    return Start(limits, isolated=isolate, gpus=backend == "nccl")
