"""What a rank answers to a request: how the example ended, what it returned, and what it did meanwhile."""

from __future__ import annotations

import msgspec

from autograder.protocol.operation import Operation, SourceLine

# The JSON of None.
NOTHING = msgspec.Raw(b"null")


class Raised(msgspec.Struct, frozen=True):
    """An exception of a rank: its type, its text and the submission's lines that it went through, outermost first."""

    type: str
    text: str
    lines: tuple[SourceLine, ...] = ()


class TensorFacts(msgspec.Struct, frozen=True, array_like=True):
    """What a rank says of a tensor before its bytes are looked at: the exact type, and the device's type."""

    type: str
    device: str


class Reply(msgspec.Struct, frozen=True):
    """A rank's answer to one request.

    `status`: returned, raised, not_attempted (NotImplementedError), missing (no such function), unimportable.
    `value` is what rank.py answers besides tensors: one of the problem's structs, in JSON, read by whoever knows which.
    `missing` says what is not there. `operations` are none on the simulated cluster, which sees them itself;
    `refused` are sentences about operations that the problem forbids.
    """

    status: str
    value: msgspec.Raw = NOTHING
    missing: str = ""
    raised: Raised | None = None
    operations: tuple[Operation, ...] = ()
    refused: tuple[str, ...] = ()
    tensors: dict[str, TensorFacts] = {}
