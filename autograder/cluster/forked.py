"""A zygote forked from the grader itself, which has then imported torch once for both: for one's own submission alone.

The fork comes before the grader has imported a check or read a solution, so that nothing in the zygote's memory tells
more than a zygote of its own would have. Somebody else's submission gets a process that was started apart; see
launch.py.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time

from autograder.cluster.launch import ANSWER_SECONDS, Home, Start, Zygote
from autograder.system import process
from autograder.system.paths import ROOT


class Forked:
    """A forked process, as far as a subprocess.Popen of it would be used."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self._has_ended = False

    def wait(self, timeout: float | None = None) -> int:
        """Waits for its end; raises subprocess.TimeoutExpired."""
        end = None if timeout is None else time.monotonic() + timeout
        while not self._has_ended:
            pid, _ = os.waitpid(self.pid, 0 if end is None else os.WNOHANG)
            self._has_ended = pid == self.pid
            if not self._has_ended and end is not None and time.monotonic() > end:
                raise subprocess.TimeoutExpired("zygote", timeout or 0.0)
            if not self._has_ended:
                time.sleep(0.005)
        return 0

    def kill(self) -> None:
        """Kills it, if it has not ended."""
        if not self._has_ended:
            os.kill(self.pid, signal.SIGKILL)


def launch(start: Start) -> tuple[Home, Zygote]:
    """Imports torch, then forks the zygote, which goes on importing what ranks need.

    Nothing else may be running yet.
    """
    home = Home()
    scratch = str(home.path / "ranks")
    environment = start.environment(scratch)
    for name in ("OMP_NUM_THREADS", "TORCH_CPP_LOG_LEVEL"):  # torch reads them once
        os.environ[name] = environment[name]
    import torch

    from autograder.cluster import zygote

    torch.set_num_threads(1)  # threads of the parent's would be missing in the child
    ours, theirs = socket.socketpair()
    ours.settimeout(ANSWER_SECONDS)
    sys.stdout.flush()
    sys.stderr.flush()
    pid = os.fork()
    if pid == 0:
        try:
            _forget_the_grader(environment, scratch, {theirs.fileno(), home.held})
            zygote.run(theirs.fileno(), home.held, start.method, scratch, start.tier)
        finally:
            os._exit(0)  # not through what the grader would do at its end
    theirs.close()
    return home, Zygote(Forked(pid), ours)


def _forget_the_grader(environment: dict[str, str], scratch: str, kept: set[int]) -> None:
    """In the child: a session, a folder, an environment and open files as a process of its own would have."""
    process.die_with_parent()
    os.setsid()
    os.chdir(scratch)
    os.environ.clear()
    os.environ.update(environment)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
    sys.path[:] = [str(ROOT), *(path for path in sys.path[1:] if path)]
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    for fd in map(int, os.listdir("/proc/self/fd")):
        if fd > 2 and fd not in kept:
            with contextlib.suppress(OSError):
                os.close(fd)
