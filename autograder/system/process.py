"""What the system knows of a process: is it asleep, how much processor time has it used."""

from __future__ import annotations

import contextlib
import ctypes
import os
import select
import signal
import sys
from collections.abc import Collection
from pathlib import Path

import psutil

PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_CHILD_SUBREAPER = 1, 4, 36
_TICKS = os.sysconf("SC_CLK_TCK")


def _prctl(option: int, value: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(option, value)


def die_with_parent() -> None:
    """Asks the kernel to kill this process when its parent dies (Linux; elsewhere the sockets' end has to do).

    The kernel says nothing of a parent that had died before: `has_hung_up` does.
    """
    _prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def outlive_parent() -> None:
    """Takes `die_with_parent` back."""
    _prctl(PR_SET_PDEATHSIG, 0)


def has_hung_up(fd: int) -> bool:
    """Whether nobody is left at the other end of a socket."""
    poll = select.poll()
    poll.register(fd, 0)
    return bool(poll.poll(0))


def shut(really: bool = True) -> None:
    """Keeps other processes of the same user out of this one's memory and open files, or lets them in (Linux)."""
    _prctl(PR_SET_DUMPABLE, int(not really))


def wake(pid: int, wrappers: Collection[str] = ()) -> bool:
    """Has a process go on, if somebody has stopped it by a signal; whether that was so.

    Where `pid` is one of the programs that start another one and wait for it, by name, that other one is meant.
    """
    with contextlib.suppress(psutil.Error):
        meant = psutil.Process(pid)
        while meant.name() in wrappers and (children := meant.children()):
            meant = children[0]
        if meant.status() == psutil.STATUS_STOPPED:
            meant.resume()
            return True
    return False


def adopt_orphans() -> None:
    """Has every descendant whose parent ends become a child of this process, so that none can get away (Linux)."""
    _prctl(PR_SET_CHILD_SUBREAPER, 1)


def signal_name(number: int) -> str:
    """SIGKILL for 9; real-time signals have no names of their own."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return str(number)


def activity(pid: int) -> tuple[float, bool]:
    """Processor seconds used so far, and whether every thread is asleep (not running, not waiting for a processor)."""
    if sys.platform == "linux":
        return _linux_activity(pid)
    process = psutil.Process(pid)
    times = process.cpu_times()
    return times.user + times.system, process.status() not in (psutil.STATUS_RUNNING, psutil.STATUS_DISK_SLEEP)


def descendants(pid: int, most: int) -> list[int]:
    """The processes below this one, however deep, also those that have ended and that nobody has asked how.

    Linux keeps lists of children. Without them every process of the machine has to be looked at, and a machine that
    grades many submissions at a time has a thousand. Endless forking is faster than any look: from `most` on it
    is cut short.
    """
    if not os.path.exists("/proc/thread-self/children"):
        return [process.pid for process in psutil.Process(pid).children(recursive=True)][:most]
    found: dict[int, None] = {}
    parents = [pid]
    while parents and len(found) < most:
        children = [child for child in _children(parents.pop()) if child not in found]
        found |= dict.fromkeys(children)
        parents += children
    return [*found][:most]


def _children(pid: int) -> list[int]:
    children: list[int] = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            children += map(int, task.read_text().split())
    return children


def is_alive(pid: int) -> bool:
    """Whether there is such a process, and it has not ended."""
    try:
        return bool(psutil.Process(pid).status() != psutil.STATUS_ZOMBIE)
    except psutil.Error:
        return False


def _linux_activity(pid: int) -> tuple[float, bool]:
    cpu, asleep = 0, True
    for task in Path(f"/proc/{pid}/task").glob("*/stat"):
        try:
            fields = task.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        cpu += int(fields[11]) + int(fields[12])
        asleep = asleep and fields[0] not in "RD"  # also what somebody has stopped
    return cpu / _TICKS, asleep
