"""The pages: what they link to is there, every command of theirs is run by a test or by CI, and no page is
forgotten.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from autograder.system.paths import ROOT

PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "assignment" / "student-readme.md",
    *ROOT.glob("docs/*.md"),
]
# Where each make target is run: by CI itself, or by these tests in place of the target.
RUN_BY = {
    "grade": "tests/grading/test_grading.py",
    "test": ".ci/run",
    "check": ".ci/run",
    "bench": ".ci/run",
    "release": "tests/grading/test_grading.py",
    "handout": "tests/authoring/test_adding_a_problem.py",
    "chapters": "tests/authoring/test_adding_a_problem.py",
    "mutants": "tests/authoring/test_strength.py",
    "strength": "tests/authoring/test_strength.py",
    "seeds": "tests/authoring/test_strength.py",
    "test-all": "Makefile.dev",
    "help": "tests/test_pages.py",
    "clean": "tests/test_pages.py",
    "setup": ".ci/run",
}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\((?!https?:)([^)#]+)\)", page.read_text()):
        assert (page.parent / target).exists(), target


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_command_is_run_somewhere(page: Path) -> None:
    text = page.read_text()
    targets = set(
        re.findall(r"\bmake ([a-z-]+)\b", "\n".join(re.findall(r"`make [^`]+`|^ {4,}make .*$", text, re.MULTILINE)))
    )
    assert targets <= RUN_BY.keys()
    for place in {RUN_BY[target] for target in targets}:
        assert (ROOT / place).is_file()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_modules_that_are_named_exist(page: Path) -> None:
    for command in re.findall(r"-m (autograder[\w.]*)", page.read_text()):
        ended = subprocess.run([sys.executable, "-m", command, "--help"], cwd=ROOT, capture_output=True, timeout=120)
        assert ended.returncode == 0, command
    for path in re.findall(r"`((?:autograder|tests|assignment|docs)/[\w./]+)`", page.read_text()):
        if "rotation" not in path:
            assert (ROOT / path).exists(), path


def test_help_names_every_target() -> None:
    ended = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert ended.returncode == 0
    targets = set(re.findall(r"^  make ([a-z-]+)", ended.stdout, re.MULTILINE))
    assert targets == set(RUN_BY)
