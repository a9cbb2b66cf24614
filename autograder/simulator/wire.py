"""What a rank and the switch say to each other, and how it is packed.

A frame is two little-endian lengths (head: 32 bits, body: 64 bits), the head in JSON, the body as raw bytes. Heads are
checked against the types below as they are decoded; lengths are capped before anything is stored. Nothing is unpickled.

A rank keeps the frames of operations that do not block until it has to wait, and sends them in one piece: most
operations cost no system call of their own.
"""

import socket
import struct
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

LENGTHS = struct.Struct("<IQ")
MAX_HEAD = 1 << 16
MAX_BODY = 1 << 28
READ = 1 << 18

# Bytes of one element, by the name that torch gives the type.
ITEM_SIZES = {
    "bool": 1, "uint8": 1, "int8": 1, "int16": 2, "uint16": 2, "int32": 4, "uint32": 4, "int64": 8, "uint64": 8,
    "float16": 2, "bfloat16": 2, "float32": 4, "float64": 8, "complex32": 4, "complex64": 8, "complex128": 16,
    "float8_e4m3fn": 1, "float8_e5m2": 1, "float8_e4m3fnuz": 1, "float8_e5m2fnuz": 1, "float8_e8m0fnu": 1,
}  # fmt: skip

Count = Annotated[int, Meta(ge=0, le=1 << 40)]
Seconds = Annotated[float, Meta(ge=0, le=1e12)]
Peer = Annotated[int, Meta(ge=-1, le=1 << 20)]
Tag = Annotated[int, Meta(ge=-(1 << 62), le=1 << 62)]
Name = Annotated[str, Meta(max_length=200)]
Text = Annotated[str, Meta(max_length=4000)]
Counts = Annotated[list[Count], Meta(max_length=1 << 12)]


class MalformedMessage(Exception):
    """What arrived is not a message of ours."""


class _Message(Struct, array_like=True, tag=True):
    pass


class Site(_Message):
    """A place in the student's code, told once and named by its number from then on."""

    id: Count
    api: Name
    file: Text
    line: Count
    function: Name


class Group(_Message):
    """A process group: torch's name for it, and the global ranks of its members in group order."""

    id: Count
    name: Name
    ranks: Counts


class Send(_Message):
    """A message to `peer` (a global rank); the body is the data. `clock` is the rank's virtual time."""

    id: Count
    clock: Seconds
    site: Count
    group: Count
    peer: Peer
    tag: Tag
    dtype: Name
    numel: Count


class Recv(_Message):
    """A wish to receive from `peer` (a global rank; -1: from anyone)."""

    id: Count
    clock: Seconds
    site: Count
    group: Count
    peer: Peer
    tag: Tag
    dtype: Name
    numel: Count


class Collective(_Message):
    """A collective: elements of each input and output of this rank. The body is the inputs, one after the other."""

    id: Count
    clock: Seconds
    site: Count
    group: Count
    name: Name
    dtype: Name
    op: Name
    root: Peer
    inputs: Counts
    outputs: Counts


class Wait(_Message):
    """The rank stops here until the operation is done."""

    id: Count
    clock: Seconds
    site: Count


class Waited(_Message):
    """The rank waited for an operation that it already knew to be done."""

    id: Count
    clock: Seconds


class Poll(_Message):
    """Is the operation done at this time? The rank stops until it is told."""

    id: Count
    clock: Seconds
    site: Count


class Fault(_Message):
    """The rank's own side has seen a mistake, in words. The rank stops."""

    kind: Name
    text: Text
    clock: Seconds
    site: Count


class Finish(_Message):
    """The rank has come to the end of this example; `how`, in words, if it was not by returning."""

    clock: Seconds
    how: Text


class Done(_Message):
    """To the rank: its operation is done at `clock`. The body is what it receives.

    `source` is the global rank that a message came from. `also` are the operations of this rank, with their times,
    whose end has become known since the last answer and which have nothing to deliver.
    """

    clock: float
    source: int
    also: list[tuple[int, float]]


class Pending(_Message):
    """To the rank: not done yet; looking has taken it until `clock`."""

    clock: float


class Stop(_Message):
    """To the rank: the run is over, and why."""

    kind: str
    text: str


# What begins an operation, and all that a rank does at a time of its clock.
Begin = Send | Recv | Collective
Act = Begin | Wait | Waited | Poll | Fault | Finish
FromRank = Site | Group | Act
ToRank = Done | Pending | Stop

_encoder = msgspec.json.Encoder()
_from_rank = msgspec.json.Decoder(FromRank)
_to_rank = msgspec.json.Decoder(ToRank)


def pack(message: Struct, body: bytes | memoryview = b"") -> bytes:
    """One frame."""
    head = _encoder.encode(message)
    return b"".join((LENGTHS.pack(len(head), len(body)), head, body))


class Inbox:
    """Frames put together from the bytes of one rank, none of them trusted."""

    def __init__(self) -> None:
        self._bytes = bytearray()

    def feed(self, data: bytes) -> list[tuple[FromRank, bytes]]:
        """The messages that `data` completes, each with its body. Raises MalformedMessage."""
        self._bytes += data
        messages = []
        at = 0
        while len(self._bytes) - at >= LENGTHS.size:
            head, body = LENGTHS.unpack_from(self._bytes, at)
            if head > MAX_HEAD or body > MAX_BODY:
                raise MalformedMessage(f"a message of {head + body} bytes")
            middle = at + LENGTHS.size + head
            if len(self._bytes) < middle + body:
                break
            with memoryview(self._bytes) as view:
                try:
                    message = _from_rank.decode(view[at + LENGTHS.size : middle])
                except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
                    raise MalformedMessage(f"a message that does not parse ({error})") from None
                at = middle + body
                messages.append((message, bytes(view[middle:at])))
        del self._bytes[:at]
        return messages


def receive(connection: socket.socket) -> tuple[ToRank, bytearray]:
    """The switch's next message and its body; for the rank, which has nothing else to do. Raises EOFError."""
    data = bytearray(connection.recv(READ))
    while len(data) < LENGTHS.size:
        data += _more(connection, READ)
    head, body = LENGTHS.unpack_from(data)
    middle = LENGTHS.size + head
    while len(data) < middle:
        data += _more(connection, READ)
    message = _to_rank.decode(data[LENGTHS.size : middle])
    del data[:middle]
    while len(data) < body:
        data += _more(connection, min(body - len(data), 1 << 24))
    return message, data


def _more(connection: socket.socket, size: int) -> bytes:
    data = connection.recv(size)
    if not data:
        raise EOFError("the switch has gone")
    return data
