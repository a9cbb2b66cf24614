"""A grading killed at any moment leaves no process, no folder and no half-written file, and harms no later one."""

from __future__ import annotations

import json
import os
import random
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from autograder.cluster import sandbox
from autograder.system.paths import ROOT

COMMAND = [sys.executable, "-m", "autograder", "grade", "solutions", "--only", "broadcast.values"]
OLD = '{"score": "of the old report"}'
GONE_SECONDS = 2.0
MOMENTS = [pytest.param(1, id="some"), pytest.param(30, id="many", marks=pytest.mark.thorough)]


def _started(scratch: Path, results: Path, *more: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [*COMMAND, "--results", str(results), *more],
        cwd=ROOT,
        env={**os.environ, "TMPDIR": str(scratch)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def _belonging_to(scratch: Path) -> list[psutil.Process]:
    """Processes whose command line names the grading's own temporary folder: sandbox, zygote, ranks and sweeper."""
    found = []
    for process in psutil.process_iter():
        try:
            if any(str(scratch) in word for word in process.cmdline()):
                found.append(process)
        except psutil.Error:
            continue
    return found


def _assert_gone(scratch: Path) -> None:
    deadline = time.monotonic() + GONE_SECONDS
    while (_belonging_to(scratch) or os.listdir(scratch)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not _belonging_to(scratch)
    assert not os.listdir(scratch)


@pytest.mark.parametrize("tier", ["--isolate", "--no-isolate"])
@pytest.mark.parametrize("moments", MOMENTS)
def test_killed_at_random_moments(moments: int, tier: str, tmp_path: Path) -> None:
    if tier == "--isolate" and sandbox.unavailable():
        pytest.skip(sandbox.unavailable())
    scratch, folder = tmp_path / "scratch", tmp_path / "results"
    scratch.mkdir()
    folder.mkdir()
    results = folder / "results.json"
    results.write_text(OLD)
    begin = time.monotonic()
    assert _started(scratch, folder / "first.json", tier).wait(600) == 0
    whole = time.monotonic() - begin
    (folder / "first.json").unlink()
    choose = random.Random(moments)
    for _ in range(moments):
        process = _started(scratch, results, tier)
        try:
            process.wait(choose.uniform(0, whole))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        _assert_gone(scratch)
        assert json.loads(results.read_text())["score"] in (json.loads(OLD)["score"], 1)
        assert [name for name in os.listdir(folder) if not name.startswith(".")] == ["results.json"]
    assert _started(scratch, results, tier).wait(600) == 0
    assert json.loads(results.read_text())["score"] == 1


def test_a_zygote_whose_grader_is_gone_before_it_begins() -> None:
    """The kernel tells of a parent's death only to who had asked before: the zygote has to look for itself."""
    grader, zygote = socket.socketpair()
    grader.close()
    command = [sys.executable, "-X", "importtime", "-m", "autograder.cluster.begin", str(zygote.fileno())]
    ended = subprocess.run(command, cwd=ROOT, pass_fds=[zygote.fileno()], capture_output=True, text=True, timeout=600)
    zygote.close()
    assert ended.returncode == 0
    imported = {line.rpartition("|")[2].strip() for line in ended.stderr.splitlines()}
    assert "autograder.system.process" in imported
    assert "torch" not in imported


COLLECTS = """
import gc, os, signal, time
from autograder import cli

signal.signal(signal.{signal}, cli._interrupted)

sent = []

def during_collection(phase, info):
    if phase == "stop" and not sent:
        sent.append(True)
        os.kill(os.getpid(), signal.{signal})

gc.callbacks.append(during_collection)
try:
    gc.collect()
    time.sleep(60)
except KeyboardInterrupt as interrupt:
    print("heard", int(interrupt.args[0]))
"""


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_a_signal_during_a_collection_of_garbage_is_heard(name: str) -> None:
    program = [sys.executable, "-c", COLLECTS.replace("{signal}", name)]
    done = subprocess.run(program, cwd=ROOT, capture_output=True, text=True, timeout=50)
    assert done.stdout.split() == ["heard", str(int(signal.Signals[name]))], done.stderr
