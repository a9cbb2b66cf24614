"""Messages between the grader and a rank: a JSON header and raw tensor bytes, each frame capped in size.

A frame is two little-endian 32-bit lengths, the header (JSON) and the body (safetensors). Nothing that arrives from a
rank is ever unpickled or executed; whatever does not parse is `MalformedMessage`.
"""

from __future__ import annotations

import socket
import struct
from typing import TypeVar

import msgspec
import safetensors
import safetensors.torch
import torch

LENGTHS = struct.Struct("<II")
# What a byte of JSON may take as Python objects, about: "[]," is an empty list of 80. Counted as so many bytes of
# tensors.
WORDS_WEIGHT = 16


Header = TypeVar("Header", bound=msgspec.Struct)


class MalformedMessage(Exception):
    """What arrived is not a message of ours: too large, cut short or malformed."""


_encoder = msgspec.json.Encoder()
_DTYPES = frozenset(safetensors.torch._TYPES.values())


def encode(header: msgspec.Struct, tensors: dict[str, torch.Tensor]) -> bytes:
    """A frame of the header and the tensors, which must be `sendable` (any strides; each is stored contiguously).

    Raises TypeError if the header holds what JSON has no form for.
    """
    head = _encoder.encode(header)
    body = _serialize(tensors) if tensors else b""
    return LENGTHS.pack(len(head), len(body)) + head + body


def _serialize(tensors: dict[str, torch.Tensor]) -> bytes:
    """The tensors as safetensors; its module for torch takes ten times as long over small ones."""
    stored = {name: tensor.detach().resolve_conj().resolve_neg().cpu().contiguous() for name, tensor in tensors.items()}
    specs = {
        name: safetensors.TensorSpec(
            dtype=str(t.dtype).removeprefix("torch."), shape=list(t.shape), data_ptr=t.data_ptr(), data_len=t.nbytes
        )
        for name, t in stored.items()
    }
    return safetensors.serialize(specs)


def sendable(tensor: torch.Tensor) -> bool:
    """Whether a tensor has a form in a message: strided, in memory, of a dtype that safetensors knows."""
    has_bytes = tensor.layout == torch.strided and tensor.device.type != "meta" and not tensor.is_quantized
    return has_bytes and tensor.dtype in _DTYPES


def decode(head: bytes, body: bytes, kind: type[Header]) -> tuple[Header, dict[str, torch.Tensor]]:
    """The header as `kind` and the tensors; raises MalformedMessage for anything malformed."""
    try:
        header: Header = msgspec.json.decode(head, type=kind)
        tensors = safetensors.torch.load(body) if body else {}
    except Exception as error:
        raise MalformedMessage(f"malformed message: {type(error).__name__}") from None
    return header, tensors


class ReplyQuota:
    """How many bytes the ranks of a group may still reply in one example, together."""

    def __init__(self, nbytes: int) -> None:
        self._nbytes = self._left = nbytes

    def take(self, nbytes: int) -> None:
        """Raises MalformedMessage if that is more than is left."""
        self._left -= nbytes
        if self._left < 0:
            raise MalformedMessage(f"replies of all ranks over the limit of {self._nbytes:,} bytes together")


class Inbox:
    """Collects one frame from a socket without ever blocking on it.

    It never holds more than `limit` bytes, or than `quota` has. Of either, a byte of JSON takes `WORDS_WEIGHT` bytes:
    of the header, or of that of the body.
    """

    def __init__(self, sock: socket.socket, limit: int, quota: ReplyQuota) -> None:
        self._sock, self._limit, self._quota = sock, limit, quota
        self._buffer = bytearray()
        self._lengths: tuple[int, int] | None = None  # once they are known

    def read(self) -> tuple[bytes, bytes] | None:
        """The header and body bytes once all have arrived, else None; raises EOFError or MalformedMessage."""
        while True:
            try:
                piece = self._sock.recv(1 << 20, socket.MSG_DONTWAIT)
            except BlockingIOError:
                return None
            except OSError:
                raise EOFError from None
            if not piece:
                raise EOFError
            self._buffer += piece
            frame = self._take()
            if frame is not None:
                return frame

    def _take(self) -> tuple[bytes, bytes] | None:
        if len(self._buffer) < LENGTHS.size:
            return None
        if self._lengths is None:
            self._lengths = LENGTHS.unpack_from(self._buffer)
            self._admit(*self._lengths)
        head, body = self._lengths
        end = LENGTHS.size + head + body
        if len(self._buffer) < end:
            return None
        frame = bytes(self._buffer[LENGTHS.size : LENGTHS.size + head]), bytes(self._buffer[LENGTHS.size + head : end])
        del self._buffer[:end]
        if self._buffer:
            raise MalformedMessage("more than one reply to one request")
        self._weigh(head + int.from_bytes(frame[1][:8], "little"))  # a body begins with the length of its own header
        return frame

    def _admit(self, head: int, body: int) -> None:
        """Raises MalformedMessage for a frame that is too large, before it has arrived."""
        if head + body > self._limit:
            raise MalformedMessage(f"a reply of {head + body:,} bytes, over the limit of {self._limit:,}")
        self._quota.take(head + body)

    def _weigh(self, words: int) -> None:
        """Raises MalformedMessage for more JSON than may be made objects of."""
        most = self._limit // WORDS_WEIGHT
        if words > most:
            raise MalformedMessage(f"a reply with {words:,} bytes besides tensors, over the limit of {most:,}")
        self._quota.take((WORDS_WEIGHT - 1) * words)


def receive(sock: socket.socket) -> tuple[bytes, bytes]:
    """Waits for one frame (the rank's side, where the grader is trusted); raises EOFError when the grader is gone."""
    head, body = LENGTHS.unpack(_exactly(sock, LENGTHS.size))
    return _exactly(sock, head), _exactly(sock, body)


def _exactly(sock: socket.socket, size: int) -> bytes:
    buffer = bytearray(size)
    view, filled = memoryview(buffer), 0
    while filled < size:
        count = sock.recv_into(view[filled:])
        if not count:
            raise EOFError
        filled += count
    return bytes(buffer)
