"""Futures of work handles."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import torch
from torch._C._distributed_c10d import GradBucket

from autograder.fabric import callsite

Future = torch.futures.Future


class LazyFuture(Future[Any]):
    """A future that gets its value by calling `compute` when it is first asked for it.

    A simulated rank has no thread that could complete a future behind its back, so one that torch's own C++ code will
    wait for has to be complete from the start. `is_ready` says whether `compute` would return without waiting.
    """

    def __init__(self, compute: Callable[[], Any], is_ready: Callable[[], bool]) -> None:
        super().__init__()
        self._compute, self._is_ready = compute, is_ready
        self._callbacks: list[Callable[[Future[Any]], Any]] = []
        if callsite.is_called_by_torch() or _is_in_bucket_hook():
            self.wait()

    def wait(self) -> Any:
        if not super().done():
            try:
                self.set_result(self._compute())
            except Exception as error:
                self.set_exception(error)
            for callback in self._callbacks:
                callback(self)
        return super().wait()

    def value(self) -> Any:
        return self.wait()

    def done(self) -> bool:
        if not super().done() and self._is_ready():
            self.wait()
        return super().done()

    def then(self, callback: Callable[[Future[Any]], Any]) -> LazyFuture:
        """A future of what `callback` makes of this one."""

        def compute() -> Any:
            self.wait()
            return callback(self)

        future = LazyFuture(compute, self.done)
        if super().done():
            future.wait()
        return future

    def add_done_callback(self, callback: Callable[[Future[Any]], Any]) -> None:
        if self.done():
            callback(self)
        else:
            self._callbacks.append(callback)


def install() -> None:
    """Has torch's functions on several futures ask each of them, for C++ would wait for what nobody completes."""
    for name in ("wait_all", "collect_all"):
        setattr(torch.futures, name, _asking(getattr(torch.futures, name)))


def _asking(function: Callable[[list[Future[Any]]], Any]) -> Callable[[list[Future[Any]]], Any]:
    def asking(futures: list[Future[Any]]) -> Any:
        for future in futures:
            if isinstance(future, LazyFuture) and not future.done():
                future.wait()
        return function(futures)

    return asking


def _is_in_bucket_hook() -> bool:
    """Whether this happens in a hook on the buckets of torch's own data parallel wrapper."""
    frame: FrameType | None = sys._getframe(2)
    while frame is not None:
        if any(isinstance(value, GradBucket) for value in frame.f_locals.values()):
            return True
        frame = frame.f_back
    return False
