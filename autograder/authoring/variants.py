"""Wrong submissions that must be caught and unusual ones that must not: tests/problems/<name>/{mistakes,unusual}.

A file holds definitions that replace the reference's; the TOML in its docstring says what must come of it.
"""

from __future__ import annotations

import ast
import shutil
import tomllib
from pathlib import Path

import msgspec

from autograder.system.paths import ROOT

TESTS = ROOT / "tests" / "problems"
SOLUTIONS = ROOT / "solutions"


class Variant(msgspec.Struct, frozen=True, kw_only=True):
    """What a file in mistakes/ or unusual/ says of itself, in the TOML of its docstring.

    `thorough`: an unusual one that is much like others, and is left to thorough runs.
    """

    loses: tuple[str, ...] = ()
    says: tuple[str, ...] = ()
    may_lose: tuple[str, ...] = ()
    mistake: int | None = None
    thorough: bool = False


def variants(kind: str, problem: str) -> list[Path]:
    """The files of a kind ("mistakes" or "unusual") of a problem."""
    return sorted((TESTS / problem / kind).glob("*.py"))


def described(path: Path) -> Variant:
    """The docstring's TOML; the file is read, never imported."""
    text = ast.get_docstring(ast.parse(path.read_text())) or ""
    return msgspec.convert(tomllib.loads(text.partition("\n\n")[2]), Variant)


def within(check: str, id: str) -> bool:
    """Whether an id is the check's, or that of its task or problem."""
    return check == id or check.startswith(f"{id}.")


def source_of(path: Path, problem: str) -> str:
    """The reference's module, with the file's definitions after it, so that they replace its own."""
    return f"{(SOLUTIONS / f'{problem}.py').read_text()}\n\n{path.read_text()}"


def submission_of(path: Path, problem: str, folder: Path) -> Path:
    """A submission in `folder`: the reference, with the file's definitions in it."""
    for module in SOLUTIONS.glob("*.py"):
        shutil.copy(module, folder)
    (folder / f"{problem}.py").write_text(source_of(path, problem))
    return folder
