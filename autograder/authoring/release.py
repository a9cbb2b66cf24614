"""Packs what students receive: everything that grading needs, and nothing of the solutions."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from autograder.authoring.stubs import CutError, find_blocks, make_stubs, solution_lines
from autograder.grading.assignment import Assignment, load
from autograder.report.write import write_atomically

TOP = "parallelism-assignment"
FOLDERS = ("assignment", "autograder", "handout")
FILES = ("LICENSE", "Makefile", "README.md", "constraints.txt", "pyproject.toml")
# What students read first is a page of their own: the repository's is for who teaches, or changes the kit.
STUDENTS_README = "assignment/student-readme.md"
# Of the folders, what is for who changes the assignment alone.
LEFT_OUT = ("autograder/authoring", STUDENTS_README)

# Outside of the handout a line may be like one of a solution by chance; so many in a row are a copy.
_RUN = 3


class ReleaseError(Exception):
    """The release cannot be made; the text says why and what to do."""


def release(root: Path, out: Path) -> list[str]:
    """Writes the zip that students receive and returns the names in it. The same tree gives the same bytes.

    Raises ReleaseError where the handout is not what the solutions give, a file is missing, or a solution shows.
    """
    _check_handout(root, load(root / "assignment" / "assignment.toml"))
    secrets = [_secret(path) for path in sorted((root / "solutions").glob("*.py"))]
    files = {name: _source(root, name).read_bytes() for name in sorted(_names(root))}
    content = _packed(files)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        names = archive.namelist()
        for name in names:
            _check_member(name, archive.read(name).decode("utf-8", "replace"), secrets)
    out.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(out, content)
    return names


def _check_handout(root: Path, assignment: Assignment) -> None:
    try:
        stubs = make_stubs(root / "solutions", assignment)
    except CutError as error:
        raise ReleaseError(str(error)) from None
    handout = {path.name: path.read_text(encoding="utf-8") for path in (root / "handout").glob("*.py")}
    if handout != stubs:
        raise ReleaseError("handout/ is not what the solutions give: run make handout first")


def _source(root: Path, name: str) -> Path:
    """The file of the repository that is called `name` in the archive."""
    return root / (STUDENTS_README if name == "README.md" else name)


def _names(root: Path) -> Iterator[str]:
    """What goes in, relative to the top: named files, and named folders without what tools leave behind in them."""
    missing = [path for path in (_source(root, name) for name in FILES) if not path.is_file()]
    if missing:
        raise ReleaseError(f"{', '.join(path.relative_to(root).as_posix() for path in missing)} is missing")
    yield from FILES
    for folder in FOLDERS:
        for path in (root / folder).rglob("*"):
            inside = path.relative_to(root)
            if any(part.startswith(".") or part == "__pycache__" for part in inside.parts) or path.suffix == ".pyc":
                continue
            left_out = any(inside.is_relative_to(name) for name in LEFT_OUT)
            if path.is_file() and not path.is_symlink() and not left_out:
                yield inside.as_posix()


def _packed(files: dict[str, bytes]) -> bytes:
    """A zip of these files; stored, since what a compressor makes differs between its versions."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as archive:
        for name, content in files.items():
            info = zipfile.ZipInfo(f"{TOP}/{name}", date_time=(1980, 1, 1, 0, 0, 0))
            info.create_system = 3
            info.external_attr = 0o100644 << 16
            archive.writestr(info, content)
    return out.getvalue()


@dataclass(frozen=True)
class _Secret:
    """What must not be seen of one solution: its telling lines, and every few lines in a row of a block."""

    module: str
    lines: set[str]
    runs: set[tuple[str, ...]]


def _secret(path: Path) -> _Secret:
    source = path.read_text(encoding="utf-8")
    blocks = find_blocks(source, path.stem)
    lines = source.splitlines()
    runs = {run for block in blocks for run in _runs(lines[block.begin : block.end - 1])}
    return _Secret(path.stem, solution_lines(source, blocks), runs)


def _runs(lines: list[str]) -> set[tuple[str, ...]]:
    telling = [text for line in lines if len(text := line.strip()) > 8 and not text.startswith("#")]
    return {tuple(telling[i : i + _RUN]) for i in range(len(telling) - _RUN + 1)}


def _check_member(name: str, text: str, secrets: list[_Secret]) -> None:
    path = PurePosixPath(name)
    if path.parts[0] != TOP or path.parts[1] not in FOLDERS + FILES:
        raise ReleaseError(f"{name} does not belong in a release")
    runs = _runs(text.splitlines())
    for secret in secrets:
        own_stub = path.parts[1:] == ("handout", f"{secret.module}.py")
        shown = {line for line in secret.lines if line in text} if own_stub else {run[0] for run in runs & secret.runs}
        if shown:
            raise ReleaseError(f"{name} shows the solution of {secret.module}: {min(shown)}")
