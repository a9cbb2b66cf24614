"""A control group holds a sandbox of root's to its most number of processes, and is gone with it."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

import pytest

from autograder.cluster import cgroup, launch, sandbox
from autograder.cluster.cluster import Cluster
from autograder.grading import assignment


def _made(name: str, most: int) -> Path:
    group = cgroup.place(name)
    if group is None or not cgroup.make(group, most):
        pytest.skip("no control group can be made here: its user is held to RLIMIT_NPROC, or nothing counts processes")
    return group


def test_no_more_processes_than_that() -> None:
    group = _made(f"test-{os.getpid()}", 20)
    script = "for i in $(seq 40); do sleep 600 & done; wait"
    try:
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        assert subprocess.run(cgroup.entering(group, ["sh", "-c", script]), timeout=60, **quiet).returncode
        assert 0 < len((group / "cgroup.procs").read_text().split()) <= 20
    finally:
        for pid in (group / "cgroup.procs").read_text().split():
            os.kill(int(pid), 9)
        _await_removal(group)


def test_the_group_goes_with_the_grading() -> None:
    if sandbox.unavailable():
        pytest.skip(sandbox.unavailable())
    _made(f"test-{os.getpid()}", 20).rmdir()
    with Cluster(launch.Start(assignment.load().limits, isolated=True)) as cluster:
        assert cluster.home.is_dir()
        home = cluster._home
        zygote = cluster.start.zygote(home)
        assert home.group.is_dir()
        assert int((home.group / "pids.max").read_text()) == sandbox.TASKS
        zygote.end()
    assert not home.group.exists()


def _await_removal(group: Path) -> None:
    for _ in range(100):
        try:
            group.rmdir()
            return
        except OSError:
            time.sleep(0.05)
    raise AssertionError("processes are left in the group")
