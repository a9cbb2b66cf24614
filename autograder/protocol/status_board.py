"""The board: what each rank is doing right now, in memory that the grader reads at any time.

A rank writes its slot without a lock; the reader takes a slot only if the number in front and behind agree.
"""

from __future__ import annotations

import functools
import mmap
import os
import struct
from collections.abc import Sequence

import msgspec

# A slot is number, example, progress, state; then the operation; then the number again.
_HEAD, _AGAIN = struct.Struct("<QQQi"), struct.Struct("<Q")
# peer, bytes, line, nth, members, kind, api, file, function
_OPERATION = struct.Struct("<iqiIQ24s32s160s96s")
_SLOT = struct.Struct(_HEAD.format + _OPERATION.format[1:] + _AGAIN.format[1:])
_NONE = _OPERATION.pack(-1, 0, 0, 0, 0, b"", b"", b"", b"")
SLOT_SIZE = 512
IDLE, RUNNING, WAITING = 0, 1, 2
MASKED = 64  # members of a group are shown up to this rank


class RankActivity(msgspec.Struct, frozen=True):
    """What a rank was doing when the board was read. `progress` grows with every operation begun or ended.

    The operation, one of this example, is the one that the rank waits in, or the last that it began, if `state` is
    another; `kind` is "" if there is none. It is the rank's `nth` of its kind on the group with the global ranks
    `members`.
    """

    example: int
    progress: int
    state: int
    peer: int = -1
    nbytes: int = 0
    line: int = 0
    nth: int = 0
    members: tuple[int, ...] = ()
    kind: str = ""
    api: str = ""
    file: str = ""
    function: str = ""


def size(world_size: int) -> int:
    """Bytes that the board of a group needs."""
    return SLOT_SIZE * world_size


class Slot:
    """One rank's place on the board, for writing."""

    def __init__(self, memory: mmap.mmap, rank: int) -> None:
        self._memory = memory
        self._offset = rank * SLOT_SIZE
        self._number = 0
        self._progress = 0
        self._example = 0
        self._operation = _NONE

    def begin(self) -> None:
        """A new example begins."""
        self._example += 1
        self._operation = _NONE
        self._enter(RUNNING)

    def idle(self) -> None:
        self._operation = _NONE
        self._enter(IDLE)

    def running(self) -> None:
        self._enter(RUNNING)

    def waiting(
        self,
        kind: str,
        api: str,
        peer: int,
        nbytes: int,
        file: str,
        line: int,
        function: str,
        nth: int = 0,
        members: Sequence[int] = (),
    ) -> None:
        """The rank is about to block in an operation."""
        texts = _texts(kind, api, file, function)
        self._operation = _OPERATION.pack(peer, nbytes, line, nth, _mask(tuple(members)), *texts)
        self._enter(WAITING)

    def _enter(self, state: int) -> None:
        """Written in one copy: packed in place, the slot would be blank for a while, and a rank may die halfway."""
        self._number += 1
        self._progress += 1
        head = _HEAD.pack(self._number, self._example, self._progress, state)
        slot = head + self._operation + _AGAIN.pack(self._number)
        self._memory[self._offset : self._offset + _SLOT.size] = slot


@functools.lru_cache
def _mask(members: tuple[int, ...]) -> int:
    return sum(1 << rank for rank in members if rank < MASKED)


@functools.lru_cache(maxsize=1024)
def _texts(kind: str, api: str, file: str, function: str) -> tuple[bytes, ...]:
    """As the slot holds them; a submission has few places that operations come from."""
    encoded = [text.encode("utf-8", "replace") for text in (kind, api, file, function)]
    return (*encoded[:2], encoded[2][-160:], encoded[3])


class StatusBoard:
    """The board of one group, for reading; the open file `fd` is handed to the ranks, and closed by whoever opened it.

    It is read as a file: ranks may cut it short, and memory that is no longer there kills whoever looks at it.
    """

    def __init__(self, fd: int, world_size: int) -> None:
        os.ftruncate(fd, size(world_size))
        self._fd, self._world_size = fd, world_size

    def read(self) -> list[RankActivity]:
        """What every rank is doing; a slot caught in the middle of a write comes back as it was best read."""
        return [self._read(rank) for rank in range(self._world_size)]

    def _read(self, rank: int) -> RankActivity:
        for _ in range(20):
            slot = os.pread(self._fd, _SLOT.size, rank * SLOT_SIZE).ljust(_SLOT.size, b"\0")
            number, example, progress, state, peer, nbytes, line, nth, mask, *texts, again = _SLOT.unpack(slot)
            if number == again:
                break
        kind, api, file, function = (t.rstrip(b"\0").decode("utf-8", "replace") for t in texts)
        members = tuple(rank for rank in range(MASKED) if mask >> rank & 1)
        return RankActivity(example, progress, state, peer, nbytes, line, nth, members, kind, api, file, function)
