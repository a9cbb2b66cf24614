"""What earlier runs have found out: a run that was interrupted goes on where it stopped."""

from __future__ import annotations

import hashlib
from pathlib import Path

import msgspec

from autograder.authoring.strength.bench import End
from autograder.grading.assignment import DEFAULT
from autograder.system.paths import ROOT

FOLDER = ROOT / ".strength"


class Line(msgspec.Struct, frozen=True):
    """How one submission ended, under one state of the grader."""

    grader: str
    submission: str
    ends: list[End]


class Record:
    """A file with a line for each submission; what was found out under another grader counts for nothing."""

    def __init__(self, name: str, folder: Path = FOLDER) -> None:
        self._path = folder / f"{name}.jsonl"
        self._grader = grader()
        self._known: dict[str, list[End]] = {}
        if self._path.exists():
            lines = [msgspec.json.decode(line, type=Line) for line in self._path.read_bytes().splitlines()]
            self._known = {line.submission: line.ends for line in lines if line.grader == self._grader}

    def known(self, source: str) -> list[End] | None:
        """How this source ended before; None if it has not been graded yet."""
        return self._known.get(digest(source))

    def note(self, source: str, ends: list[End]) -> None:
        """Keeps how a source ended."""
        self._known[digest(source)] = ends
        self._path.parent.mkdir(exist_ok=True)
        with self._path.open("ab") as file:
            file.write(msgspec.json.encode(Line(self._grader, digest(source), ends)) + b"\n")


def grader() -> str:
    """Stands for the grader and the assignment as they are: their files."""
    files = [DEFAULT, *sorted((ROOT / "autograder").rglob("*.py"))]
    return digest("".join(file.read_text() for file in files))


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:24]
