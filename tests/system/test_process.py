"""What the kit asks the system about processes."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from autograder.system import process


def _await(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert condition()


@pytest.mark.parametrize("lists", [True, False], ids=["by lists of children", "by all processes"])
def test_descendants_are_found_however_deep(lists: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if lists and not Path("/proc/thread-self/children").exists():
        pytest.skip("this system keeps no lists of children")
    if not lists:
        monkeypatch.setattr(process.os.path, "exists", lambda _: False)
    shell = subprocess.Popen(["sh", "-c", "sh -c 'sleep 600; :' & sleep 600; :"])
    try:
        _await(lambda: len(psutil.Process(shell.pid).children(recursive=True)) == 3)
        found = process.descendants(os.getpid(), 100)
        below = {child.pid for child in psutil.Process(shell.pid).children(recursive=True)}
        assert {shell.pid, *below} <= set(found)
        assert len(found) == len(set(found)) and os.getpid() not in found
        assert len(process.descendants(os.getpid(), 2)) == 2
        assert all(process.is_alive(pid) for pid in (shell.pid, *below))
    finally:
        for child in (*psutil.Process(shell.pid).children(recursive=True), shell):
            child.kill()
        shell.wait()


def test_what_has_ended_is_not_alive() -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    _await(lambda: psutil.Process(ended.pid).status() == psutil.STATUS_ZOMBIE)
    assert not process.is_alive(ended.pid)
    ended.wait()
    assert not process.is_alive(ended.pid)


def test_what_somebody_has_stopped_goes_on() -> None:
    """In a shell, which waits for it, or by itself."""
    shell = subprocess.Popen(["sh", "-c", "sleep 600; :"])
    try:
        _await(lambda: bool(psutil.Process(shell.pid).children()))
        child = psutil.Process(shell.pid).children()[0]
        assert not process.wake(shell.pid, ("sh",))
        child.suspend()
        _await(lambda: child.status() == psutil.STATUS_STOPPED)
        assert not process.wake(shell.pid)
        assert process.wake(shell.pid, ("sh",))
        _await(lambda: child.status() == psutil.STATUS_SLEEPING)
    finally:
        for each in (*psutil.Process(shell.pid).children(), shell):
            each.kill()
        shell.wait()
    assert not process.wake(shell.pid)
