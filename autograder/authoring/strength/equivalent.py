"""Mutants that no check can catch: each problem's equivalent_mutants.toml says why of each."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path

import msgspec

from autograder.authoring.strength.mutate import Key, Mutant
from autograder.system.paths import ROOT

FOLDER = ROOT / "tests" / "problems"


class Equivalent(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The line of a function before and after the change, both without their comments, and why nothing comes of it.

    `nth`: of several such lines of the function, which one. `gpu`: something does come of it, on GPUs alone.
    """

    where: str
    before: str
    after: str
    reason: str
    gpu: bool = False
    nth: int = 1

    @property
    def key(self) -> Key:
        """That of the mutant which is meant."""
        return self.where, self.before, self.after, self.nth


class _File(msgspec.Struct, forbid_unknown_fields=True):
    equivalent: list[Equivalent] = []


def explained(folder: Path = FOLDER) -> dict[Key, Equivalent]:
    """The lists, by the key of a mutant."""
    files = [
        msgspec.toml.decode(path.read_bytes(), type=_File) for path in sorted(folder.glob("*/equivalent_mutants.toml"))
    ]
    return {entry.key: entry for file in files for entry in file.equivalent}


def stale(entries: Collection[Equivalent], mutants: Collection[Mutant], caught: Collection[Mutant]) -> Iterator[str]:
    """What is wrong with entries: they fit no mutant, or one that was caught, which cannot be equivalent then."""
    there, wrong = {mutant.key for mutant in mutants}, {mutant.key for mutant in caught}
    for entry in entries:
        if entry.key not in there:
            yield f"{entry.where}: fits no mutant: {entry.before} -> {entry.after}"
        elif entry.key in wrong:
            yield f"{entry.where}: was caught, so it is not equivalent: {entry.before} -> {entry.after}"
