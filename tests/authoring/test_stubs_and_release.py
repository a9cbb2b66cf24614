"""The handout: cut from the solutions, whole for a student and without a trace of an answer; and its release."""

from __future__ import annotations

import ast
import shutil
import zipfile
from pathlib import Path

import msgspec
import pytest

from autograder.authoring.release import ReleaseError, release
from autograder.authoring.stubs import CutError, cut, cut_handout, make_stubs
from autograder.grading.assignment import load
from autograder.system.paths import ROOT

SOURCE = '''\
"""A module.

Its   text stays.


As it is.
"""

from __future__ import annotations

import math
# BEGIN SOLUTION
import itertools
# END SOLUTION

# BEGIN SOLUTION


def _helper(x: int) -> int:
    return math.floor(x) + len(list(itertools.count()))


# END SOLUTION


def double(x: int) -> int:
    """Twice x.

    Gives an int.
    """
    # BEGIN SOLUTION
    half = _helper(x)
    # END SOLUTION
    # Think of two halves.
    # BEGIN SOLUTION
    return half + half
    # END SOLUTION


class Counter:
    """Counts."""

    limit: int = math.floor(3.5)

    # BEGIN SOLUTION
    def _secret(self) -> int:
        return self.limit + 41

    # END SOLUTION

    def count(self) -> int:
        # BEGIN SOLUTION
        return self._secret()
        # END SOLUTION

    def hooked(self):
        """Registers a hook."""

        def hook(grad):
            # BEGIN SOLUTION
            return grad / self.limit
            # END SOLUTION

        # BEGIN SOLUTION
        return register(hook)
        # END SOLUTION
# BEGIN SOLUTION


register = print
# END SOLUTION
'''

STUB = '''\
# Problem 1: Sums. Write what raises NotImplementedError, in any order; names and arguments stay as they are.
# What is asked: assignment/sums.md. Where you stand: make grade ONLY=sums
"""A module.

Its   text stays.


As it is.
"""

from __future__ import annotations

import math


def double(x: int) -> int:
    """Twice x.

    Gives an int.
    """
    raise NotImplementedError("sums.double: not written yet; see assignment/sums.md, section double")
    # Think of two halves.


class Counter:
    """Counts."""

    limit: int = math.floor(3.5)

    def count(self) -> int:
        raise NotImplementedError("sums.Counter.count: not written yet; see assignment/sums.md, section Counter")

    def hooked(self):
        """Registers a hook."""

        def hook(grad):
            raise NotImplementedError("sums.Counter.hooked: not written yet; see assignment/sums.md, section Counter")

        raise NotImplementedError("sums.Counter.hooked: not written yet; see assignment/sums.md, section Counter")
'''


def test_cut():
    assert cut(SOURCE, "sums", ["double", "Counter"], "Problem 1: Sums") == STUB


def test_a_function_without_a_section_points_to_the_chapter():
    assert 'see assignment/sums.md")' in cut(SOURCE, "sums", [])


def test_a_long_message_is_wrapped():
    name = "a_name_that_is_so_long_that_the_message_does_not_fit_a_line"
    text = cut(f"def {name}():\n    # BEGIN SOLUTION\n    pass\n    # END SOLUTION\n", "sums", [name])
    assert all(len(line) <= 120 for line in text.split("\n"))
    with pytest.raises(NotImplementedError, match=rf"^sums\.{name}: not written yet; see .*, section {name}$"):
        space: dict = {}
        exec(text, space)
        space[name]()


def test_a_marker_in_a_text_is_no_marker():
    source = 'TEXT = """\n# BEGIN SOLUTION\n"""\n'
    with pytest.raises(CutError, match="a marker is left"):
        cut(source, "sums", [])


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("# BEGIN SOLUTION\nx = 1\n", "sums.py:1: this solution block has no end"),
        ("x = 1\n# END SOLUTION\n", "sums.py:2: this marker has no partner"),
        ("# BEGIN SOLUTION\n# BEGIN SOLUTION\n# END SOLUTION\n", "sums.py:2"),
        ("def f():\n    # BEGIN SOLUTION\n    pass\n# END SOLUTION\n", "sums.py:4"),
        ("# begin solution\nx = 1\n# end solution\n", "sums.py:1: .* misspelt"),
        ("x = 1  # BEGIN SOLUTION\n# END SOLUTION\n", "sums.py:1"),
        ("def f(:\n", "sums.py:1: "),
        ("if True:\n    # BEGIN SOLUTION\n    x = 1\n    # END SOLUTION\n", "does not compile"),
        ("# BEGIN SOLUTION\nimport os\n# END SOLUTION\ndef f():\n    return os.name\n", "uses os, defined in"),
        ("# BEGIN SOLUTION\nclass A: pass\n# END SOLUTION\ndef f(a: A): pass\n", "uses A, defined in"),
        (
            "def f(x):\n    # BEGIN SOLUTION\n    half = x / 2\n    # END SOLUTION\n    return half\n",
            "uses half, defined in",
        ),
        ('def f(x):\n    """Call {0}."""\n{1}', "holds this line of a solution: send"),
        ('def f(x):\n    """Call\n    {0}\n    """\n{1}', "holds this line of a solution: send"),
        ("def f(x):\n    # {0}\n{1}", "holds this line of a solution: send"),
    ],
)
def test_what_cannot_be_cut_is_told(source, message):
    leak = "send(tensor, peer=1)"
    with pytest.raises(CutError, match=message):
        cut(source.format(leak, f"    # BEGIN SOLUTION\n    {leak}\n    # END SOLUTION\n"), "sums", ["f"])


def test_names_of_its_own_are_defined():
    source = "import os\nN = 1\n\n\nclass A:\n    n = N\n\n    def f(self, *args, **kwargs):\n"
    source += "        return [a for a in args] + [N, len(kwargs), __name__, os, A]\n"
    assert cut(source, "sums", []).endswith(source)


# The real ones: a new limit is not to be forgotten here.
LIMITS = "[limits]\n" + "\n".join(f"{name} = {limit}" for name, limit in msgspec.to_builtins(load().limits).items())
TOML = """
title = "Sums"
[budgets.local]
examples = 1
LIMITS
[[problems]]
name = "sums"
title = "Sums"
world_sizes = [1]
[[problems.tasks]]
name = "double"
checks = { even = 1 }
[[problems.tasks]]
name = "Counter"
checks = { even = 1 }
""".replace("LIMITS", LIMITS)


@pytest.fixture
def tree(tmp_path):
    """A small project: one problem, its solution, and the files that a release takes."""
    root = tmp_path / "project"
    for name, text in {
        "assignment/assignment.toml": TOML,
        "assignment/sums.md": "# Sums\n",
        "autograder/cli.py": "print()\n",
        "autograder/__pycache__/cli.pyc": "x",
        "autograder/.hidden": "x",
        "autograder/authoring/stubs.py": "x",
        "assignment/student-readme.md": "for students",
        "solutions/sums.py": SOURCE,
        "tests/test_sums.py": "x",
        "results.json": "x",
        **{
            name: name
            for name in ("LICENSE", "Makefile", "Makefile.dev", "README.md", "pyproject.toml", "constraints.txt")
        },
    }.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


def cut_tree(root: Path) -> list[str]:
    assignment = load(root / "assignment" / "assignment.toml")
    return [path.name for path in cut_handout(root / "solutions", root / "handout", assignment)]


def test_cutting_twice_changes_nothing_and_stale_files_go(tree):
    assert cut_tree(tree) == ["sums.py"]
    assert (tree / "handout" / "sums.py").read_text() == STUB
    (tree / "handout" / "old_problem.py").write_text("x")
    assert cut_tree(tree) == ["old_problem.py"]
    assert cut_tree(tree) == []
    assert [path.name for path in (tree / "handout").iterdir()] == ["sums.py"]


@pytest.mark.parametrize("folder_stays", [True, False])
def test_a_students_work_is_never_cut_away(tree, folder_stays):
    cut_tree(tree)
    (tree / "handout" / "sums.py").write_text("my work")
    (tree / "solutions" / "sums.py").unlink()
    if not folder_stays:
        (tree / "solutions").rmdir()
    with pytest.raises(CutError, match="is missing"):
        cut_tree(tree)
    assert (tree / "handout" / "sums.py").read_text() == "my work"


def test_release_holds_what_students_need_and_nothing_else(tree):
    cut_tree(tree)
    release(tree, tree / "dist" / "handout.zip")
    with zipfile.ZipFile(tree / "dist" / "handout.zip") as archive:
        names = archive.namelist()
        assert archive.read("parallelism-assignment/README.md") == b"for students"
    assert names == [
        f"parallelism-assignment/{name}"
        for name in sorted(
            [
                "LICENSE",
                "Makefile",
                "README.md",
                "constraints.txt",
                "pyproject.toml",
                "assignment/assignment.toml",
                "assignment/sums.md",
                "autograder/cli.py",
                "handout/sums.py",
            ]
        )
    ]


def test_release_has_the_same_bytes_whatever_the_clock(tree, tmp_path):
    cut_tree(tree)
    release(tree, tree / "dist" / "handout.zip")
    copy = tmp_path / "copy"
    shutil.copytree(tree, copy, copy_function=shutil.copyfile)
    release(copy, copy / "dist" / "handout.zip")
    assert (tree / "dist" / "handout.zip").read_bytes() == (copy / "dist" / "handout.zip").read_bytes()


def test_release_of_a_handout_that_was_touched_is_refused(tree):
    cut_tree(tree)
    (tree / "handout" / "sums.py").write_text(STUB + "\n# more\n")
    with pytest.raises(ReleaseError, match="run make handout first"):
        release(tree, tree / "handout.zip")
    assert not (tree / "handout.zip").exists()


def test_release_that_shows_a_solution_is_refused(tree):
    long_solution = SOURCE.replace(
        "    half = _helper(x)\n", "    half = _helper(x)\n    more = half * half\n    half = more - half * 2\n"
    )
    (tree / "solutions" / "sums.py").write_text(long_solution)
    cut_tree(tree)
    copied = "def f(x):\n  half = _helper(x)\n\n  more = half * half\n  half = more - half * 2\n"
    (tree / "autograder" / "cli.py").write_text(copied)
    with pytest.raises(ReleaseError, match=r"autograder/cli.py shows the solution of sums"):
        release(tree, tree / "handout.zip")
    assert not (tree / "handout.zip").exists()


def test_release_needs_its_files(tree):
    cut_tree(tree)
    (tree / "assignment" / "student-readme.md").unlink()
    with pytest.raises(ReleaseError, match="student-readme.md is missing"):
        release(tree, tree / "handout.zip")


# The real one

has_solutions = pytest.mark.skipif(not list(ROOT.glob("solutions/[a-z]*.py")), reason="a release has no solutions")


@has_solutions
def test_the_committed_handout_is_what_the_solutions_give():
    stubs = make_stubs(ROOT / "solutions", load())
    handout = {path.name: path.read_text(encoding="utf-8") for path in (ROOT / "handout").glob("*.py")}
    assert sorted(handout) == sorted(stubs), "run make handout"
    assert all(handout[name] == stubs[name] for name in stubs), "run make handout"


@has_solutions
@pytest.mark.parametrize("path", sorted(ROOT.glob("solutions/[a-z]*.py")), ids=lambda path: path.stem)
def test_every_public_name_of_a_solution_is_in_its_stub(path):
    source = path.read_text(encoding="utf-8")
    stub = cut(source, path.stem, [])

    def public(text: str) -> dict[str, str]:
        """Signatures and docstrings of public functions and methods, by name."""
        found = {}
        for node in ast.parse(text).body:
            for member in node.body if isinstance(node, ast.ClassDef) and node.name[0] != "_" else [node]:
                if isinstance(member, ast.FunctionDef) and (member.name[0] != "_" or member.name == "__init__"):
                    name = f"{node.name}.{member.name}"
                    found[name] = f"{ast.unparse(member.args)}\n{ast.get_docstring(member)}"
        return found

    assert public(stub) == public(source)
    raising = [
        node.name
        for node in ast.walk(ast.parse(stub))
        if isinstance(node, ast.FunctionDef) and any(isinstance(statement, ast.Raise) for statement in node.body)
    ]
    assert raising, "nothing is left to write"
