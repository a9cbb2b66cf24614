"""One operation of a rank on a process group, and the line of the submission that it came from."""

from __future__ import annotations

from typing import Annotated

import msgspec

# A number that a rank tells of: no longer than it takes to print, and none that a sum could make so.
LARGEST = 2**53
Count = Annotated[int, msgspec.Meta(ge=-LARGEST, le=LARGEST)]


class SourceLine(msgspec.Struct, frozen=True, array_like=True):
    """A line of the submission: file relative to its folder, line number, function, text of the line."""

    file: str
    line: Count
    function: str
    text: str = ""


class Operation(msgspec.Struct, frozen=True, array_like=True):
    """One operation of a rank on a process group, as its own record has it, or the simulated switch.

    `kind` is the group's operation (send, recv, all_reduce, ...), `api` the function of torch.distributed that the
    submission called, `peer` a global rank (-1: all of the group), `start` and `end` seconds since the example began
    (`end` is -1 if nobody waited for it, or on the simulated cluster if it never was done).
    """

    kind: str
    api: str
    peer: Count
    nbytes: Count
    tag: Count
    group: tuple[Count, ...]
    start: float
    end: float
    file: str
    line: Count
