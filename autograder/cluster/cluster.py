"""The cluster: the zygote and every group of ranks that came from it."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any

from autograder.assignment import ROOT, Limits
from autograder.cluster.group import GroupFailed, RankGroup

METHOD = "spawn" if sys.platform == "darwin" else "fork"
ANSWER_SECONDS = 60.0


class Cluster:
    """Ranks for one grading or many; a context manager that leaves no process and no file behind.

    `start` returns at once, while the zygote is still importing torch. Everything else of the grader's can be got ready
    meanwhile.
    """

    def __init__(self, limits: Limits, method: str = METHOD) -> None:
        self._limits, self._method = limits, method
        self._groups: dict[tuple[Path, str, int], RankGroup] = {}
        self._process: subprocess.Popen | None = None
        self._lock = threading.Lock()

    def __enter__(self) -> Cluster:
        self.start()
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def start(self) -> None:
        """Starts the zygote."""
        self._home = tempfile.TemporaryDirectory(prefix="grading-", ignore_cleanup_errors=True)
        self._command, theirs = socket.socketpair()
        self._command.settimeout(ANSWER_SECONDS)
        arguments = [str(theirs.fileno()), self._method, self._home.name]
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "autograder.cluster.zygote", *arguments],
            pass_fds=[theirs.fileno()],
            env=_environment(self._home.name),
            cwd=self._home.name,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )
        theirs.close()
        self._answers = self._command.makefile("r")
        self._ready = False

    def group(self, folder: Path, backend: str, world_size: int) -> RankGroup:
        """The warm group for these; ranks are forked at its first call."""
        key = (folder, backend, world_size)
        if key not in self._groups:
            self._groups[key] = RankGroup(self._order, Path(self._home.name), *key, self._limits)
        return self._groups[key]

    def release(self, folder: Path) -> None:
        """Kills the groups of one submission; others stay warm."""
        for key in [key for key in self._groups if key[0] == folder]:
            self._groups.pop(key).kill()

    def close(self) -> None:
        """Ends everything: hanging up makes the zygote kill all ranks and remove the scratch folder."""
        if self._process is None:
            return
        self._command.close()
        self._answers.close()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process = None
        self._home.cleanup()

    def _order(self, do: str, fds: list[int] | None = None, **arguments: Any) -> Any:
        """One command to the zygote, and its answer."""
        with self._lock:
            try:
                if not self._ready:
                    self._ready = json.loads(self._answers.readline()) == "ready"
                line = json.dumps({"do": do, **arguments}).encode() + b"\n"
                socket.send_fds(self._command, [line], fds or [])
                return json.loads(self._answers.readline())
            except (OSError, ValueError) as error:
                raise GroupFailed(f"the process that starts ranks is gone ({type(error).__name__})") from None


def _environment(home: str) -> dict[str, str]:
    """What ranks see of the environment: nothing of the grader's own."""
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "LC_ALL", "CUDA_VISIBLE_DEVICES") if name in os.environ}
    return {
        **kept,
        **{name: value for name, value in os.environ.items() if name.startswith(("NCCL_", "OPENBLAS_"))},
        "HOME": home,
        "TMPDIR": home,
        "PYTHONPATH": str(ROOT),
        "PYTHONDONTWRITEBYTECODE": "1",
        "OMP_NUM_THREADS": "1",
        "GLOO_SOCKET_IFNAME": "lo0" if sys.platform == "darwin" else "lo",
        "TORCH_CPP_LOG_LEVEL": "FATAL",
    }
