"""Starts the zygote. Imports nothing heavy, so that the zygote is importing torch before the grader itself has begun to."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
from dataclasses import dataclass

from autograder.assignment import ROOT

METHOD = "spawn" if sys.platform == "darwin" else "fork"
KEPT = ("PATH", "LANG", "LC_ALL", "CUDA_VISIBLE_DEVICES")
ANSWER_SECONDS = 600.0  # however loaded the machine


@dataclass
class Zygote:
    """A zygote that is coming up: its process, the socket that it takes commands from, and its scratch folder."""

    process: subprocess.Popen[bytes]
    command: socket.socket
    home: tempfile.TemporaryDirectory[str]

    def end(self) -> None:
        """Hangs up: the zygote kills all ranks, removes the scratch folder and ends."""
        self.command.close()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.home.cleanup()


def zygote(method: str = METHOD) -> Zygote:
    """Starts one; ranks are started from it by `fork`, or by `spawn` where forking after torch is unsafe."""
    home = tempfile.TemporaryDirectory(prefix="grading-", ignore_cleanup_errors=True)
    ours, theirs = socket.socketpair()
    ours.settimeout(ANSWER_SECONDS)
    with theirs:
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "autograder.cluster.zygote", str(theirs.fileno()), method, home.name],
            pass_fds=[theirs.fileno()],
            env=_environment(home.name),
            cwd=home.name,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )
    return Zygote(process, ours, home)


def _environment(home: str) -> dict[str, str]:
    """What ranks see of the environment: nothing of the grader's own."""
    return {
        **{name: os.environ[name] for name in KEPT if name in os.environ},
        **{name: value for name, value in os.environ.items() if name.startswith(("NCCL_", "OPENBLAS_"))},
        "HOME": home,
        "TMPDIR": home,
        "PYTHONPATH": str(ROOT),
        "PYTHONDONTWRITEBYTECODE": "1",
        "OMP_NUM_THREADS": "1",
        "GLOO_SOCKET_IFNAME": "lo0" if sys.platform == "darwin" else "lo",
        "TORCH_CPP_LOG_LEVEL": "FATAL",
    }
