"""Buffers in flight: between an operation's call and its wait, what is sent must not be written, and what is received
must be neither written nor read.

Three nets, each for what the one before lets through:

1. Every torch operation of the rank is looked at before it runs; one that touches a buffer in flight is the mistake,
   told with its line. Parts of a tensor that do not overlap the buffer are free to use.
2. At the wait, the bytes are compared with what was sent, or with the filling of a receive buffer: that shows writes
   past torch (through numpy, say).
3. A receive buffer is filled with NaN until its wait, so a value read past torch shows as NaN.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from autograder.fabric import callsite
from autograder.fabric.callsite import CallSite
from autograder.simulator import memory

# Operations that take from a tensor its shape, dtype or device only.
_SHAPE_ONLY = ("_like", "new_")
Arguments = tuple[Any, ...]  # of any of torch's operations
Keywords = dict[str, Any]


class Buffer:
    """A tensor in flight. `contents` are the bytes that it must still hold at the wait (None: not compared)."""

    def __init__(self, tensor: torch.Tensor, is_output: bool, what: str, site: CallSite) -> None:
        self.tensor, self.is_output, self.what, self.site = tensor, is_output, what, site
        self.first, self.end = memory.span(tensor)
        self.contents: bytes | None = None


class BufferGuard(TorchDispatchMode):  # type: ignore[no-untyped-call]  # its __init_subclass__
    """The buffers that are in flight on this rank. `report(text, site)` tells of a mistake and raises."""

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        # torch would import its whole compiler (seconds) to keep it away from this class.
        return False

    def __init__(self, report: Callable[[str, CallSite], None]) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # torch has no types for it
        self._report = report
        self._buffers: dict[int, tuple[Buffer, ...]] = {}
        self._is_aside = False

    def __torch_dispatch__(self, func: Any, types: Any, args: Arguments = (), kwargs: Keywords | None = None) -> Any:
        if self._buffers and not self._is_aside and not _touches_nothing(func):
            self._look(func, args, kwargs or {})
        return func(*args, **(kwargs or {}))

    @contextmanager
    def aside(self) -> Iterator[None]:
        """The kit's own work on the buffers, not to be looked at."""
        self._is_aside = True
        try:
            yield
        finally:
            self._is_aside = False

    def meet(self, buffers: tuple[Buffer, ...]) -> None:
        """An operation is about to begin; reports if one of its buffers is in flight already."""
        for buffer in buffers if self._buffers else ():
            for other in self._overlapping(buffer.tensor):
                if buffer.is_output or other.is_output:
                    self._report(_both(other, buffer), buffer.site)

    def keep(self, operation: int, buffers: tuple[Buffer, ...]) -> None:
        """The rank goes on with these buffers in flight."""
        self._buffers[operation] = buffers

    def check(self, operation: int, wait: CallSite) -> None:
        """Reports if a buffer of the operation has been written since it began; `wait` is where it is waited for."""
        for buffer in self._buffers.get(operation, ()):
            if buffer.contents is not None and memory.read(buffer.tensor) != buffer.contents:
                self._report(f"The buffer of {buffer.what} ({buffer.site}) was written before its wait ({wait}).", wait)

    def remove(self, operation: int) -> None:
        """The operation is done, or the example is over."""
        self._buffers.pop(operation, None)

    def begin(self) -> None:
        """From here on, all of this thread's torch operations are looked at.

        Not only while something is in flight: what a hook switches on, the autograd engine switches off after it.
        """
        self._buffers.clear()
        depth = torch._C._len_torch_dispatch_stack()
        if not any(torch._C._get_dispatch_stack_at(index) is self for index in range(depth)):
            torch._C._push_on_torch_dispatch_stack(self)

    def end(self) -> None:
        """Nothing is in flight any more, and nothing is looked at."""
        self._buffers.clear()
        depth = torch._C._len_torch_dispatch_stack()
        if depth and torch._C._get_dispatch_stack_at(depth - 1) is self:
            torch._C._pop_torch_dispatch_stack(None)

    def _look(self, func: Any, args: Arguments, kwargs: Keywords) -> None:
        """Reports if the operation `func` touches a buffer in a way that it must not."""
        written = _written(func)
        for position, argument in [*enumerate(args), *kwargs.items()]:
            for tensor in _tensors(argument):
                for buffer in self._overlapping(tensor):
                    writes = position in written
                    if buffer.is_output or writes:
                        self._report(_touch(func, writes, buffer), callsite.locate(_name(func)))

    def _overlapping(self, tensor: torch.Tensor) -> Iterable[Buffer]:
        if tensor.device.type != "cpu" or not tensor.nbytes:
            return
        first, end = memory.span(tensor)
        for buffers in self._buffers.values():
            for buffer in buffers:
                if first < buffer.end and buffer.first < end and memory.overlap(tensor, buffer.tensor):
                    yield buffer


def _touches_nothing(func: Any) -> bool:
    return func.is_view or any(part in func._schema.name for part in _SHAPE_ONLY)


def _written(func: Any) -> set[int | str]:
    """Positions and names of the arguments that the operation writes."""
    written: set[int | str] = set()
    for position, argument in enumerate(func._schema.arguments):
        if argument.alias_info is not None and argument.alias_info.is_write:
            written |= {position, argument.name}
    return written


def _tensors(argument: Any) -> Iterable[torch.Tensor]:
    if isinstance(argument, torch.Tensor):
        yield argument
    elif isinstance(argument, list | tuple):
        yield from (item for item in argument if isinstance(item, torch.Tensor))


def _name(func: Any) -> str:
    return str(func._schema.name).removeprefix("aten::")


def _touch(func: Any, writes: bool, buffer: Buffer) -> str:
    verb = "writes to" if writes else "reads"
    return (
        f"{_name(func)} {verb} the buffer of {buffer.what} ({buffer.site}), which nobody has waited for yet: "
        "call wait() on its handle first."
    )


def _both(first: Buffer, second: Buffer) -> str:
    return (
        f"{second.what} uses a buffer that is still in flight in {first.what} ({first.site}): wait for that first, "
        "or use another buffer."
    )
