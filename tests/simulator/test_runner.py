"""`run_script`: any torch.distributed script, on simulated ranks."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from autograder.simulator.runner import run_script

ROOT = Path(__file__).parent.parent.parent

RIGHT = """
import os, sys, torch, torch.distributed as dist
dist.init_process_group("nccl")
rank, n = dist.get_rank(), dist.get_world_size()
assert (str(rank), str(n)) == (os.environ["RANK"], os.environ["WORLD_SIZE"])
pair = dist.new_group([0, 1], backend="gloo")
x = torch.ones(4)
dist.all_reduce(x)
if rank < 2:
    dist.all_reduce(x, group=pair)
print("sum", x[0].item(), sys.argv[1])
dist.destroy_process_group()
"""
STUCK = """
import torch, torch.distributed as dist
dist.init_process_group()
dist.recv(torch.ones(1), (dist.get_rank() + 1) % dist.get_world_size())
"""
RAISES = """
import torch.distributed as dist
dist.init_process_group("gloo")
if dist.get_rank() == 1:
    raise ValueError("lost")
"""
LEAVES = """
import os, torch.distributed as dist
dist.init_process_group("gloo")
if dist.get_rank() == 1:
    os._exit(0)
dist.barrier()
"""
LOOPS = """
import torch.distributed as dist
dist.init_process_group("gloo")
print("in", flush=True)
while True:
    pass
"""


@pytest.fixture
def script(tmp_path):
    def write(text):
        path = tmp_path / "script.py"
        path.write_text(text)
        return str(path)

    return write


def test_a_right_script(script, tmp_path, capfd):
    trace = tmp_path / "trace.json"
    assert run_script(script(RIGHT), ["hello"], 3, "pod", trace=str(trace)) == 0
    shown = capfd.readouterr().out
    for line in ("[rank 0] sum 6.0 hello", "[rank 1] sum 6.0 hello", "[rank 2] sum 3.0 hello", "rank 2: "):
        assert line in shown
    assert {event["ph"] for event in json.loads(trace.read_text())["traceEvents"]} >= {"b", "e", "M"}


def test_a_wrong_script(script, capfd):
    assert run_script(script(STUCK), [], 3, "laptop") == 1
    shown = capfd.readouterr().out
    assert "Deadlock: rank 0 waits for rank 1" in shown and "script.py:4" in shown


def test_an_exception(script, capfd):
    assert run_script(script(RAISES), [], 2, "laptop") == 1
    assert "[rank 1] ValueError: lost" in capfd.readouterr().out


def test_a_rank_that_leaves(script, capfd):
    assert run_script(script(LEAVES), [], 2, "laptop") == 1
    assert "Rank 1 left with exit status 0" in capfd.readouterr().out


@pytest.mark.parametrize(
    ("world_size", "topology", "text"), [(0, "laptop", "world size"), (2, "moon", "no topology 'moon'")]
)
def test_wrong_usage(script, capfd, world_size, topology, text):
    assert run_script(script(RIGHT), [], world_size, topology) == 2
    assert text in capfd.readouterr().err


def test_nothing_is_left_after_ctrl_c(script):
    heard = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"  # background jobs ignore it
    run = f"from autograder.simulator.runner import run_script; run_script({script(LOOPS)!r}, [], 3, 'laptop')"
    program = f"{heard}; {run}"
    with subprocess.Popen(
        [sys.executable, "-c", program], cwd=ROOT, stdout=subprocess.PIPE, start_new_session=True
    ) as parent:
        for _ in range(3):
            assert b"in" in parent.stdout.readline()
        ranks = psutil.Process(parent.pid).children(recursive=True)
        assert len(ranks) == 3
        os.killpg(parent.pid, signal.SIGINT)
        parent.wait(120)
        assert not any(rank.is_running() and rank.status() != psutil.STATUS_ZOMBIE for rank in ranks)
