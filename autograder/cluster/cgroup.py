"""A most number of processes for a sandbox of root's. Other users are held to RLIMIT_NPROC; root never is.

A control group is a folder that the kernel makes of a folder; it can be removed when its last process has ended.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Sequence
from pathlib import Path

MOUNT = Path("/sys/fs/cgroup")
ENTER = 'echo $$ 2>/dev/null >"$0/cgroup.procs"; exec "$@"'


def place(name: str) -> Path | None:
    """Where a group of this name would be: below this process's own; None where none is needed, or can be."""
    if sys.platform != "linux" or os.geteuid() != 0:
        return None
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/cgroup").read_text().splitlines():
            _, controllers, path = line.split(":", 2)
            counts = "pids" in controllers.split(",")
            parent = (MOUNT / "pids" if counts else MOUNT) / path.lstrip("/")
            if (parent / "cgroup.procs").exists() and (counts or _unified(parent)):
                return parent / name
    return None


def _unified(parent: Path) -> bool:
    """Whether it is of the second version, and counts processes."""
    with contextlib.suppress(OSError):
        return "pids" in (parent / "cgroup.controllers").read_text().split()
    return False


def make(group: Path, most: int) -> bool:
    """Makes the group for so many processes and threads, if it can be made."""
    try:
        if _unified(group.parent):
            (group.parent / "cgroup.subtree_control").write_text("+pids")
        group.mkdir(exist_ok=True)
        (group / "pids.max").write_text(str(most))
    except OSError:
        with contextlib.suppress(OSError):
            group.rmdir()
        return False
    return True


def entering(group: Path, argv: Sequence[str]) -> list[str]:
    """The command, run in the group from its first step."""
    return ["sh", "-c", ENTER, str(group), *argv]
