"""The worst submission: every function hangs, each in a way of its own, and prints without end."""

from __future__ import annotations

import ast
import itertools
from pathlib import Path

import pytest

from autograder.checks.finding import Status
from autograder.cluster import launch, sandbox
from autograder.cluster.cluster import Cluster
from autograder.grading.assignment import load
from autograder.grading.session import Request, grade
from autograder.report.model import Report
from autograder.system.paths import ROOT

WAYS = {
    "prints": "while True:\n    print('all work and no play ' * 1000)",
    "computes": "while True:\n    pass",
    "sleeps": "import time\nwhile True:\n    time.sleep(1)",
    "waits": "import torch, torch.distributed as dist\n"
    "dist.recv(torch.empty(1), (dist.get_rank() + 1) % dist.get_world_size())",
    "selects": "import select\nwhile True:\n    select.select([], [], [], 0.1)",
    "ignores": "import os\nwhile True:\n    try:\n        os.write(1, b'all work and no play ' * 1000)\n"
    "    except OSError:\n        pass",
}


class _Hanging(ast.NodeTransformer):
    """Gives the functions of a module bodies that never end."""

    def __init__(self) -> None:
        self.ways = itertools.cycle(WAYS.values())

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:  # noqa: N802  (ast's name)
        node.body = ast.parse(next(self.ways)).body
        return node


def worst(folder: Path) -> Path:
    """The submission, made of the stubs."""
    folder.mkdir()
    for module in (ROOT / "handout").glob("*.py"):
        tree = _Hanging().visit(ast.parse(module.read_text()))
        (folder / module.name).write_text(ast.unparse(ast.fix_missing_locations(tree)))
    return folder


def _graded(submission: Path, *only: str) -> Report:
    isolated = not sandbox.unavailable()
    with Cluster(launch.Start(load().limits, isolated=isolated)) as cluster:
        return grade(Request(submission=str(submission), only=only), cluster=cluster)


@pytest.mark.parametrize(
    "only",
    [
        pytest.param(("gather", "shard_batch", "split_layers"), id="some"),
        pytest.param((), id="all", marks=pytest.mark.thorough),
    ],
)
def test_the_worst_submission_is_graded_to_its_end(only: tuple[str, ...], tmp_path: Path) -> None:
    report = _graded(worst(tmp_path / "worst"), *only)
    assert report.earned == 0 and not report.kit_errors
    for check in report.checks:
        told = check.failure is not None or check.waits_for
        assert told and check.reason and check.status is not Status.PASSED, check
