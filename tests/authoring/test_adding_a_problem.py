"""Follows docs/adding-a-problem.md step by step in a copy of the kit: the problem that the page builds is graded."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from autograder.system.paths import ROOT

PAGE = (ROOT / "docs" / "adding-a-problem.md").read_text()
FILE = re.compile(r"^`([^`\n]+)`\n```\w+\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COPIED = ("assignment", "autograder", "handout", "solutions", "tests", "docs", "pyproject.toml", "README.md")


@pytest.fixture(scope="module")
def kit(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A copy of the kit in which the page's files are; what it appends to is appended to."""
    root = tmp_path_factory.mktemp("kit")
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, root / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, root)
    files = FILE.findall(PAGE)
    assert len(files) >= 10
    for name, text in files:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text((path.read_text() + "\n" if path.exists() else "") + text)
    (root / "autograder" / "problems" / "rotation" / "__init__.py").touch()
    yield root


def run(kit: Path, *arguments: str) -> str:
    """A command in the copy, which has to succeed."""
    ended = subprocess.run(
        [sys.executable, "-m", *arguments], cwd=kit, capture_output=True, text=True, timeout=600, check=False
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


def score(kit: Path, submission: str) -> float:
    """The points of a submission in the new problem."""
    run(kit, "autograder", "grade", submission, "--only", "rotation", "--results", "r.json", "--no-isolate")
    return float(json.loads((kit / "r.json").read_text())["score"])


def test_five_steps_make_a_problem(kit: Path) -> None:
    assert "assignment/rotation.md" in run(kit, "autograder", "chapters")
    assert "rotate takes any size" in (kit / "assignment" / "rotation.md").read_text()
    assert "handout/rotation.py" in run(kit, "autograder", "handout")
    assert score(kit, "solutions") == 4
    assert score(kit, "handout") == 0
    assert "2 passed" in run(kit, "pytest", "-q", "tests/problems/test_variants.py", "-k", "submission and rotation")


def test_the_page_names_every_step() -> None:
    assert [int(number) for number in re.findall(r"^## (\d)\.", PAGE, re.MULTILINE)] == [1, 2, 3, 4, 5]
