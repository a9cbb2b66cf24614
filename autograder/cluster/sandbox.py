"""Isolation tiers: what stands between the ranks, where student code runs, and the machine that grades.

"bubblewrap" gives the zygote and all of its ranks namespaces of their own: no process but theirs, no network but a
loopback, no file but Python, the libraries, the ranks' side of the kit (read-only) and the submission (read-only), and
temporary folders in memory of limited size, which are gone with the sandbox. "not isolated" is a plain process with
limits: fit for one's own code, not for somebody else's.
"""

from __future__ import annotations

import functools
import glob
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from autograder.protocol.limits import Limits
from autograder.system.paths import ROOT

BUBBLEWRAP, PLAIN = "bubblewrap", "not isolated"
INSTALL = "Install it (Debian, Ubuntu: apt install bubblewrap; Fedora: dnf install bubblewrap)"
# The ranks' side of the kit, below autograder/: no check, no example, no expected value and no judge.
RANK_SIDE = (
    "__init__.py",
    *("cluster", "fabric", "protocol", "simulator", "system"),
    *("problems/__init__.py", "problems/*/__init__.py", "problems/*/rank.py", "problems/*/messages.py"),
    "problems/common/rank_side",
)
# What the dynamic linker and the C library read.
SYSTEM = ("/usr", "/bin", "/lib", "/lib32", "/lib64", "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d")
TEMPORARY = "/tmp"
TASKS = 2000  # threads and processes in a sandbox, whatever a submission starts
WRAPPERS = ("bwrap", "sh")  # what a zygote in a sandbox is started by
PROBE_SECONDS, PROBE_BYTES = 20, 1 << 20


def by_default(submission: str) -> bool:
    """Whether a submission is isolated unless somebody says otherwise: all but one's own handout, and the reference."""
    return Path(submission).resolve() not in (ROOT / "handout", ROOT / "solutions")


@functools.cache
def unavailable() -> str:
    """Why bubblewrap cannot be used on this machine, as a sentence that says what to do; "" if it can."""
    if sys.platform != "linux":
        return "Bubblewrap, which isolates a submission, is for Linux only."
    if shutil.which("bwrap") is None:
        return f"Bubblewrap, which isolates a submission, is not installed. {INSTALL}."
    probe = ["bwrap", *_namespaces(), *_files(PROBE_BYTES, (), False), "true"]
    try:
        ended = subprocess.run(probe, capture_output=True, text=True, timeout=PROBE_SECONDS, env={})
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"Bubblewrap, which isolates a submission, does not start here ({type(error).__name__})."
    if ended.returncode:
        said = (ended.stderr.strip().splitlines() or ["no reason given"])[-1]
        return f"Bubblewrap, which isolates a submission, does not start here: {said}"
    return ""


def command(argv: Sequence[str], limits: Limits, readable: Sequence[str], gpus: bool) -> list[str]:
    """`argv` to be run in a sandbox that sees the folders `readable` beside what Python needs."""
    return ["bwrap", *_namespaces(), *_files(limits.scratch_bytes, readable, gpus), "--chdir", TEMPORARY, "--", *argv]


def _namespaces() -> list[str]:
    """As nobody in particular, without capabilities, and ended with the grader."""
    identity = ["--uid", "1000", "--gid", "1000", "--cap-drop", "ALL", "--hostname", "sandbox"]
    return ["--unshare-all", *identity, "--die-with-parent", "--new-session"]


def _files(scratch_bytes: int, readable: Sequence[str], gpus: bool) -> list[str]:
    arguments = ["--proc", "/proc", "--dev", "/dev"]
    for folder in (TEMPORARY, "/dev/shm"):
        arguments += ["--size", str(scratch_bytes), "--tmpfs", folder]
    for path in SYSTEM:
        arguments += _shown(path)
    for path in dict.fromkeys([sys.base_prefix, sys.prefix, *map(str, kit_files()), *readable]):
        if not path.startswith("/usr/"):
            arguments += ["--ro-bind", path, path]
    return [*arguments, *(_gpus() if gpus else ()), "--remount-ro", "/"]


def kit_files() -> list[Path]:
    """The files and folders of the kit that ranks see."""
    return [path for pattern in RANK_SIDE for path in sorted((ROOT / "autograder").glob(pattern))]


def _shown(path: str) -> list[str]:
    """A path of the system as it is there: a link (as /lib is where all is in /usr), a file, or nothing."""
    if os.path.islink(path):
        return ["--symlink", os.readlink(path), path]
    return ["--ro-bind-try", path, path]


def _gpus() -> list[str]:
    """What CUDA and NCCL open: the driver's devices, and the machine's layout in /sys; its libraries are in /usr."""
    devices = [part for path in glob.glob("/dev/nvidia*") for part in ("--dev-bind", path, path)]
    return [*devices, "--ro-bind", "/sys", "/sys", "--ro-bind-try", "/usr/local/nvidia", "/usr/local/nvidia"]
