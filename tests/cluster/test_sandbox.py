"""What the sandbox shows of the kit is what runs in a rank, and nothing that knows an answer."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from autograder.cluster.sandbox import kit_files
from autograder.system.paths import ROOT

KIT = ROOT / "autograder"
# Files of a problem that tell what is asked next, what is expected or how it is judged.
SECRET = ("checks", "examples", "expected", "judge", "hints", "replicas", "models", "stages")


def shown() -> set[Path]:
    """Every Python file of the kit that the sandbox shows."""
    return {file for path in kit_files() for file in (path.rglob("*.py") if path.is_dir() else [path])}


def test_no_file_that_knows_an_answer_is_shown() -> None:
    for file in shown():
        inside = file.relative_to(KIT).parts
        assert inside[0] not in ("checks", "diagnosis", "grading", "report", "authoring"), file
        assert inside[0] != "problems" or not file.stem.startswith(SECRET), file


def test_what_a_rank_imports_is_shown() -> None:
    code = (
        "import importlib, sys\n"
        "from autograder.cluster import rank, zygote, spawned, begin\n"
        "for name in zygote._rank_modules():\n"
        "    importlib.import_module(name)\n"
        "print(*(m.__file__ for n, m in sys.modules.items() if n.split('.')[0] == 'autograder'), sep='\\n')\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=120, check=True
    )
    imported = {Path(line) for line in ended.stdout.split()}
    assert len(imported) > 20
    assert imported <= shown()


def test_every_problem_has_its_rank_side() -> None:
    names = {file.parent.name for file in shown() if file.name == "rank.py" and file.parent.parent.name == "problems"}
    assert names == {path.parent.name for path in KIT.glob("problems/*/checks.py")}
