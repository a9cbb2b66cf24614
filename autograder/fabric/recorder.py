"""What one rank did in this example: notes each operation, shows it on the board, refuses what is not allowed."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from autograder.fabric import callsite
from autograder.protocol.operation import Operation
from autograder.protocol.status_board import Slot

API_NAMES = {"send": ("send", "isend"), "recv": ("recv", "irecv")}


class Refused(RuntimeError):
    """The problem does not allow this operation."""


class Entry:
    """One operation in the making; becomes an `Operation` when the example ends."""

    __slots__ = ("kind", "peer", "nbytes", "tag", "group", "site", "nth", "start", "end")

    def __init__(
        self, kind: str, peer: int, nbytes: int, tag: int, group: tuple[int, ...], site: Any, nth: int, now: float
    ) -> None:
        self.kind, self.peer, self.nbytes, self.tag, self.group, self.site = kind, peer, nbytes, tag, group, site
        self.nth = nth
        self.start, self.end = now, -1.0


class Recorder:
    """One rank's record of the present example."""

    def __init__(self, slot: Slot, clock: Callable[[], float] = time.monotonic) -> None:
        self._slot = slot
        self._clock = clock
        self.begin(())

    def begin(self, allowed: Sequence[str]) -> None:
        """Forgets the last example; `allowed` are the operations of this one (empty: all)."""
        self._allowed = frozenset(allowed)
        self._entries: list[Entry] = []
        self._counts: Counter[tuple[str, tuple[int, ...]]] = Counter()
        self.refused: list[str] = []
        self._zero = self._clock()
        self._slot.begin()

    def start(self, kind: str, peer: int, nbytes: int, tag: int, group: tuple[int, ...]) -> Entry:
        """Notes an operation that is about to be handed to the library; raises Refused if it is not allowed."""
        site = callsite.locate()
        if self._allowed and kind not in self._allowed:
            raise self.refuse(refusal(site.api or kind, self._allowed))
        self._counts[kind, group] += 1
        entry = Entry(kind, peer, nbytes, tag, group, site, self._counts[kind, group], self._clock() - self._zero)
        self._entries.append(entry)
        self.show(entry)
        return entry

    def refuse(self, sentence: str) -> Refused:
        """Notes that something was refused, so that catching the exception hides nothing; returns what to raise."""
        site = callsite.locate()
        self.refused.append(f"{sentence} ({site})" if site.file else sentence)
        return Refused(sentence)

    def show(self, entry: Entry) -> None:
        """Puts the operation on the board: the rank may block in it from here on."""
        site = entry.site
        self._slot.waiting(
            entry.kind, site.api, entry.peer, entry.nbytes, site.file, site.line, site.function, entry.nth, entry.group
        )

    def running(self) -> None:
        """The rank is back in the student's code."""
        self._slot.running()

    def finish(self, entry: Entry) -> None:
        if entry.end < 0:
            entry.end = self._clock() - self._zero
        self._slot.running()

    @property
    def count(self) -> int:
        """How many operations have been begun in this example."""
        return len(self._entries)

    def operations(self) -> tuple[Operation, ...]:
        """Everything noted in this example, in program order."""
        return tuple(
            Operation(e.kind, e.site.api, e.peer, e.nbytes, e.tag, e.group, e.start, e.end, e.site.file, e.site.line)
            for e in self._entries
        )


def refusal(api: str, allowed: frozenset[str]) -> str:
    """The sentence a student reads when an operation is refused."""
    names = [name for kind in sorted(allowed, reverse=True) for name in API_NAMES.get(kind, (kind,))]
    if {"send", "recv"} <= allowed:
        names.append("batch_isend_irecv")
    return f"{api} is not allowed in this problem; allowed are {', '.join(names)}"
