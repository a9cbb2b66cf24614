"""The whole of a grading, as its users run it: the command line, its files, its exit status, and what is left."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import psutil
import pytest
from support import without_times

from autograder.checks.finding import Status
from autograder.cluster import sandbox
from autograder.cluster.cluster import Cluster
from autograder.diagnosis.diagnose import diagnose
from autograder.grading.assignment import load
from autograder.problems.collectives.examples import Collective
from autograder.report.model import Report
from autograder.system.paths import ROOT

SOLUTIONS = ROOT / "solutions"
COMMAND = [sys.executable, "-m", "autograder"]


def run(*arguments: object, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    """The command line, to its end; not isolated, for where there is no sandbox."""
    command = [*COMMAND, *map(str, arguments), *(["--no-isolate"] if arguments[0] == "grade" else [])]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=1000)


def start(*arguments: object) -> subprocess.Popen[str]:
    """The command line, running."""
    command = [*COMMAND, *map(str, arguments)]
    return subprocess.Popen(
        command,
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # background jobs ignore it
    )


def results(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text())


def written(folder: Path, **modules: str) -> Path:
    """A submission of these modules."""
    folder.mkdir(exist_ok=True)
    for name, text in modules.items():
        (folder / f"{name}.py").write_text(text)
    return folder


def changed(folder: Path, more: str) -> Path:
    """The reference, with something after its collectives."""
    shutil.copytree(SOLUTIONS, folder, ignore=shutil.ignore_patterns("__pycache__"))
    with (folder / "collectives.py").open("a") as file:
        file.write(f"\n\n{more}")
    return folder


def test_untouched_stubs_are_not_attempted(tmp_path: Path) -> None:
    ended = run("grade", "handout", "--results", tmp_path / "results.json")
    assert ended.returncode == 0
    assert "Traceback" not in ended.stdout + ended.stderr
    document = results(tmp_path / "results.json")
    assert document["score"] == 0
    assert {test["extra_data"]["status"] for test in document["tests"]} == {"not_attempted"}
    assert len(document["tests"]) == len(load().plan())


SOME = ("--only", "all_reduce.ops", "--only", "DistributedDataParallel.networks", "--only", "pipeline_forward")


@pytest.mark.parametrize(
    "only", [pytest.param(SOME, id="some"), pytest.param((), marks=pytest.mark.thorough, id="all")]
)
def test_the_reference_earns_everything_and_twice_the_same(only: tuple[str, ...], tmp_path: Path) -> None:
    """Two gradings at once, in the same folder: neither disturbs the other, and both report the same."""
    files = [tmp_path / "one.json", tmp_path / "two.json"]
    commands = [("grade", "solutions", "--results", files[0]), ("grade", "solutions", *only, "--results", files[1])]
    for process in [start(*command) for command in commands]:
        output, _ = process.communicate(timeout=1000)
        assert process.returncode == 0, output
    one, two = (without_times(results(file)) for file in files)
    assert one["score"] == sum(check.points for check in load().plan())
    assert len(two["tests"]) >= 6
    assert all(test in one["tests"] for test in two["tests"])


def test_a_wrong_submission_gets_the_same_report_twice(tmp_path: Path) -> None:
    wrong = "def all_reduce(tensor, op=ReduceOp.SUM, group=None):\n    tensor.mul_(dist.get_world_size(group))\n"
    folder = changed(tmp_path / "wrong", wrong)
    files = [tmp_path / "one.json", tmp_path / "two.json"]
    for file in files:
        assert run("grade", folder, "--only", "all_reduce", "--results", file).returncode == 0
    assert without_times(results(files[0])) == without_times(results(files[1]))
    assert results(files[0])["score"] < 7


def test_only_one_check_by_pytest_itself() -> None:
    plugin = ["-p", "autograder.grading.pytest_plugin", "autograder/problems"]
    command = [sys.executable, "-m", "pytest", *plugin, "-k", "all_reduce and values"]
    ended = subprocess.run(
        [*command, "--submission", "solutions"], cwd=ROOT, capture_output=True, text=True, timeout=1000
    )
    assert ended.returncode == 0, ended.stdout
    assert "1 passed" in ended.stdout
    ended = subprocess.run(
        [*command, "--submission", "handout"], cwd=ROOT, capture_output=True, text=True, timeout=1000
    )
    assert ended.returncode == 1
    assert "1 failed" in ended.stdout and "not_attempted" in ended.stdout


def test_what_is_set_for_pytest_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTEST_ADDOPTS", "--no-such-option")
    monkeypatch.setenv("PYTEST_PLUGINS", "no_such_plugin")
    ended = run("grade", "handout", "--only", "broadcast.values")
    assert ended.returncode == 0, ended.stderr
    assert "pytest" not in ended.stdout + ended.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["grade", "nowhere"], "neither a folder nor a zip"),
        (["grade", "--only", "all_redcue"], "nothing is called 'all_redcue'"),
        (["grade", "--budget", "huge"], "no budget 'huge'"),
        (["grade", "--backend", "carrier-pigeon"], "carrier-pigeon"),
        (["grade", "--results", "nowhere/results.json"], "nowhere"),
        (["grade", "--results", "results.docx"], "results.docx"),
    ],
)
def test_wrong_usage_is_told_in_a_line(arguments: list[str], words: str) -> None:
    ended = run(*arguments)
    assert ended.returncode == 2
    assert words in ended.stderr
    assert "Traceback" not in ended.stderr


def test_submissions_that_cannot_be_graded(tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    torn = tmp_path / "torn.zip"
    torn.write_bytes(b"PK\3\4 and nothing more")
    for path in (empty, torn):
        ended = run("grade", path)
        assert ended.returncode == 2
        assert ended.stderr.startswith("error: ") and "Traceback" not in ended.stderr


def test_a_zip_is_graded_like_the_folder_in_it(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "work.zip", "w") as archive:
        archive.write(SOLUTIONS / "collectives.py", "work/handout/collectives.py")
    ended = run("grade", tmp_path / "work.zip", "--only", "broadcast.values", "--results", tmp_path / "r.json")
    assert ended.returncode == 0, ended.stderr
    assert results(tmp_path / "r.json")["score"] == 1


WAITS_FOR_NOBODY = """
import torch.distributed as dist

def broadcast(tensor, src, group=None):
    if dist.get_rank() != src:
        dist.recv(tensor, src)
"""
WAITS_IN_A_CIRCLE = """
import torch.distributed as dist

def broadcast(tensor, src, group=None):
    n, r = dist.get_world_size(), dist.get_rank()
    if n > 1:
        dist.send(tensor, (r + 1) % n)
        dist.recv(tensor, (r - 1) % n)
"""
SMALL_BUFFER = """
import torch.distributed as dist

def broadcast(tensor, src, group=None):
    if dist.get_rank() == src:
        for r in range(dist.get_world_size()):
            if r != src:
                dist.send(tensor, r)
    else:
        dist.recv(tensor.flatten()[:1].clone(), src)
"""
BROKEN = {
    "syntax error": (
        "def broadcast(tensor, src, group=None)\n    pass\n",
        r"cannot be imported: SyntaxError",
        "failed",
    ),
    "import error": ("import nothing_of_that_name\n", r"cannot be imported: ModuleNotFoundError", "failed"),
    "exit at import": ("raise SystemExit(0)\n", r"cannot be imported: SystemExit", "failed"),
    "no function": ("x = 1\n", r"collectives.py defines no broadcast", "failed"),
    "exception": (
        "def broadcast(tensor, src, group=None):\n    raise KeyError('lost')\n",
        r"raised KeyError",
        "failed",
    ),
    "exits": ("import os\ndef broadcast(tensor, src, group=None):\n    os._exit(0)\n", r"exit status 0", "crashed"),
    "endless loop": (
        "def broadcast(tensor, src, group=None):\n    while True: pass\n",
        r"computes without end",
        "timeout",
    ),
    "sleeps": (
        "import time\ndef broadcast(tensor, src, group=None):\n    time.sleep(1000)\n",
        r"sleeps outside of any operation",
        "timeout",
    ),
    "waits for nobody": (WAITS_FOR_NOBODY, r"Rank \d.*has returned|returned.*rank \d", "failed"),
    "waits in a circle": (WAITS_IN_A_CIRCLE, r"Deadlock: rank 0 waits for rank 1, rank 1 waits for rank 0", "failed"),
    "small buffer": (SMALL_BUFFER, r"rank \d.*(bytes|elements)", "failed"),
    "prints without end": (
        "def broadcast(tensor, src, group=None):\n    while True: print('x' * 10000)\n",
        r"raised OSError|File too large",
        "failed",
    ),
    "text that no message can hold": (
        "def broadcast(tensor, src, group=None):\n    raise ValueError('\\ud800')\n",
        r"raised|cannot be sent",
        "failed",
    ),
    "wrong dtype": (
        "def broadcast(tensor, src, group=None):\n    tensor.data = tensor.double()\n",
        r"has dtype float64, expected float32",
        "failed",
    ),
    "wrong shape": (
        "def broadcast(tensor, src, group=None):\n    tensor.data = tensor.new_zeros(9)\n",
        r"has shape \(9,\), expected",
        "failed",
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_every_way_to_fail_is_told(name: str, tmp_path: Path, graded: Callable[..., Report]) -> None:
    text, words, status = BROKEN[name]
    report = graded(written(tmp_path / "s", collectives=text), "broadcast.values", "all_gather.values")
    broadcast, all_gather = report.checks
    assert broadcast.status == status, broadcast
    assert broadcast.failure is not None
    assert re.search(words, f"{broadcast.reason} {broadcast.failure}"), broadcast.failure
    assert "autograder/" not in str(broadcast.failure.where)
    # the other task is told of its own fault, not of this one
    assert all_gather.status is Status.FAILED
    assert not report.kit_errors


REAL = [
    (
        WAITS_FOR_NOBODY,
        Status.TIMEOUT,
        r"rank \d is blocked in recv from rank 0 .* and will never return: rank 0 has already returned",
    ),
    (WAITS_IN_A_CIRCLE, Status.TIMEOUT, r"deadlock: each waits for the next: rank 0 in send to rank 1"),
    (SMALL_BUFFER, Status.CRASHED, r"rank \d's process ended by signal SIGABRT; its last operation: recv from rank 0"),
]


@pytest.mark.parametrize(("text", "status", "words"), REAL)
def test_gloo_itself_is_understood(text: str, status: Status, words: str, tmp_path: Path, cluster: Cluster) -> None:
    """What the simulated cluster says in other words; checks that run on the real backend alone depend on it."""
    example = Collective("broadcast", 3, shape=(4,))
    call = example.call()
    requests = call.requests("collectives")
    outcome = cluster.group(written(tmp_path / "s", collectives=text), "gloo", 3).call(requests, call.tensors)
    told = diagnose(outcome, "broadcast")
    assert told is not None and told[0] is status
    assert re.search(words, told[1].headline), told[1]
    cluster.release(tmp_path / "s")


def test_a_missing_module_costs_its_own_tasks_alone(tmp_path: Path, graded: Callable[..., Report]) -> None:
    problems = {problem.name for problem in load().problems}
    if len(problems) == 1:
        pytest.skip("with one problem in the assignment there is no other module to be missing beside")
    (tmp_path / "s").mkdir()
    shutil.copy(SOLUTIONS / "collectives.py", tmp_path / "s")
    report = graded(tmp_path / "s", "broadcast.values", *(f"{name}" for name in problems - {"collectives"}))
    assert report.checks[0].status is Status.PASSED
    for check in report.checks[1:]:
        assert check.status is not Status.PASSED
        assert "there is no " in check.reason or check.waits_for
    assert not report.kit_errors


def _children(process: subprocess.Popen[str]) -> list[psutil.Process]:
    """The zygote and its ranks."""
    try:
        return psutil.Process(process.pid).children(recursive=True)
    except psutil.NoSuchProcess:
        return []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_an_interrupted_grading_leaves_nothing(
    number: signal.Signals, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    scratch = tmp_path_factory.mktemp("scratch")
    target = tmp_path / "results.json"
    target.write_text("the old report")
    monkeypatch.setenv("TMPDIR", str(scratch))
    process = start("grade", "solutions", "--results", target)
    deadline = time.monotonic() + 120
    while len(_children(process)) < 3 and time.monotonic() < deadline:
        time.sleep(0.05)
    children = _children(process)
    assert len(children) >= 3, "the ranks never came up"
    process.send_signal(number)
    output, _ = process.communicate(timeout=300)
    assert process.returncode == (128 + number if number != signal.SIGKILL else -number), output
    assert "Traceback" not in output
    _, alive = psutil.wait_procs(children, timeout=120)
    assert not alive
    assert os.listdir(tmp_path) == ["results.json"]
    assert not os.listdir(scratch)
    assert target.read_text() == "the old report"


def test_an_interrupt_in_the_middle_of_an_import_is_one_like_any_other(tmp_path: Path) -> None:
    """Many a library runs text that it has made; `python -m` remembers at its end that an interrupt went through it."""
    (tmp_path / "interrupted.py").write_text(
        "from autograder import cli\nfrom autograder.grading import assignment\n"
        "assignment.load = lambda: exec('raise KeyboardInterrupt')\n"
        "cli.main(['grade'])\n"
    )
    ended = subprocess.run(
        [sys.executable, "-m", "interrupted"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert ended.returncode == 128 + signal.SIGINT
    assert ended.stderr == "error: interrupted: nothing was graded and nothing was written\n"


def test_students_can_grade_what_they_receive(tmp_path: Path) -> None:
    """The release unpacked somewhere else: the stubs, then a right solution, with nothing of solutions/ there."""
    assert run("release", "--out", tmp_path / "handout.zip").returncode == 0
    with zipfile.ZipFile(tmp_path / "handout.zip") as archive:
        archive.extractall(tmp_path)
        assert not [name for name in archive.namelist() if "solutions" in name]
    home = tmp_path / "parallelism-assignment"
    ended = run("grade", "--results", tmp_path / "r.json", cwd=home)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert results(tmp_path / "r.json")["score"] == 0
    shutil.copy(SOLUTIONS / "collectives.py", home / "handout")
    ended = run("grade", "--only", "all_reduce.values", "--results", tmp_path / "r.json", cwd=home)
    assert results(tmp_path / "r.json")["score"] == 2, ended.stdout


def test_a_benchmark_is_told_beside_the_reference(graded: Callable[..., Report]) -> None:
    """Times are told and, on CPUs, not judged: another machine's work may have held up either of them."""
    report = graded(SOLUTIONS, "benchmark.rows")
    (check,) = report.checks
    assert check.status is Status.PASSED
    assert check.facts
    assert all(re.search(r"of \d[\d,]* bytes on \d ranks", fact) for fact in check.facts)
    assert all(re.search(r"the reference right after it [\d.e-]+ ms", value) for value in check.facts.values())


SLOW = [("check_seconds", "had not come to its end"), ("submission_seconds", "had used up its")]


@pytest.mark.parametrize(("limit", "words"), SLOW)
def test_time_by_the_clock_is_the_last_resort(limit: str, words: str, graded: Callable[..., Report]) -> None:
    hurried = msgspec.structs.replace(load(), limits=msgspec.structs.replace(load().limits, **{limit: 0.0}))
    report = graded(SOLUTIONS, "broadcast", planned=hurried)
    assert report.earned == 0 and not report.kit_errors
    first = report.checks[0]
    assert first.status is Status.TIMEOUT and words in first.reason


def test_somebody_elses_work_is_not_graded_without_a_sandbox(tmp_path: Path) -> None:
    command = [*COMMAND, "grade", str(written(tmp_path / "s", collectives="x = 1\n"))]
    environment = {**os.environ, "PATH": str(tmp_path)}
    ended = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300)
    assert ended.returncode == 2
    assert "apt install bubblewrap" in ended.stderr and "--no-isolate" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_a_sandbox_changes_no_score(tmp_path: Path) -> None:
    if sandbox.unavailable():
        pytest.skip(sandbox.unavailable())
    folder, file = changed(tmp_path / "theirs", ""), tmp_path / "r.json"
    command = [*COMMAND, "grade", str(folder), "--only", "gather.values", "--only", "time_collective.steady"]
    ended = subprocess.run([*command, "--results", str(file)], cwd=ROOT, capture_output=True, text=True, timeout=600)
    assert ended.returncode == 0, ended.stderr
    inside = results(file)
    assert inside["extra_data"]["isolation"] == "bubblewrap"
    assert run(*command[3:], "--results", file).returncode == 0
    outside = results(file)
    assert outside["extra_data"]["isolation"] == "not isolated"
    assert inside["tests"] == outside["tests"]
    assert inside["score"] == outside["score"] == 1.25
