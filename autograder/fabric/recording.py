"""The recording layer: every operation of a rank on a process group goes through here, whatever it was called through.

Each operation is noted by the rank's recorder, which refuses what the problem does not allow. The library that moves
the bytes (gloo, nccl, the simulated switch) is a process group underneath, called with the same arguments.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

import torch
import torch.distributed as dist

from autograder.fabric.recorder import Entry, Recorder

FOREVER = timedelta(0)


class Delivery:
    """Brings the results of an asynchronous collective to where they are expected, once, when somebody has waited.

    The library works on copies. So whoever reads too early, or writes meanwhile, goes wrong every time and not only
    when the machine is slow.
    """

    def __init__(self, outputs: Any) -> None:
        self._outputs = _flat(outputs)
        self.copies = _nested_clones(outputs)
        self._lock = threading.Lock()
        self._made = False

    def make(self) -> list[torch.Tensor]:
        """Copies the results out, the first time; returns the tensors that hold them."""
        with self._lock:
            if not self._made:
                self._made = True
                for output, copy in zip(self._outputs, _flat(self.copies), strict=True):
                    output.data.copy_(copy)
        return self._outputs


class RecordedWork(dist.Work):
    """The library's work handle, with its waits on the record. `delivery` brings the results, if they are elsewhere."""

    def __init__(
        self,
        works: Sequence[dist.Work],
        entries: Sequence[Entry],
        recorder: Recorder,
        delivery: Delivery | None = None,
    ) -> None:
        super().__init__()
        self._works, self._entries, self._recorder = tuple(works), tuple(entries), recorder
        self._delivery = delivery

    def wait(self, timeout: timedelta = FOREVER) -> bool:
        self._recorder.show(self._entries[0])
        done = True
        for work in self._works:
            done = (work.wait() if timeout == FOREVER else work.wait(timeout)) and done
        self._finish()
        return bool(done)

    def is_completed(self) -> bool:
        """Whether the operation is done; if it is, that counts as having waited for it."""
        completed = all(work.is_completed() for work in self._works)
        if completed:
            self._finish()
        return completed

    def is_success(self) -> bool:
        return all(work.is_success() for work in self._works)

    def synchronize(self) -> None:
        for work in self._works:
            work.synchronize()
        self._finish()

    def get_future(self) -> torch.futures.Future[Any]:
        """The library's future. Whoever takes it is trusted to wait for it: the operation counts as waited for."""
        for entry in self._entries:
            self._recorder.finish(entry)
        future = self._works[0].get_future()
        delivery = self._delivery
        return future if delivery is None else future.then(lambda _: delivery.make())

    def result(self) -> Any:
        return self._works[0].result()

    def exception(self) -> Any:
        return self._works[0].exception()

    def source_rank(self) -> int:
        return self._works[0].source_rank()

    _source_rank = source_rank

    def _finish(self) -> None:
        if self._delivery is not None:
            self._delivery.make()
        for entry in self._entries:
            self._recorder.finish(entry)


class RecordingGroup(dist.ProcessGroup):
    """A process group that records, and hands every operation to the process group `inner`.

    `ranks` are the members' global ranks, in group order. `at_the_wait` says that `inner` itself delivers the results
    of asynchronous collectives at the wait and no earlier.
    """

    def __init__(
        self, inner: dist.ProcessGroup, ranks: Sequence[int], recorder: Recorder, at_the_wait: bool = False
    ) -> None:
        rank, size = inner.rank(), inner.size()
        super().__init__(rank, size)  # type: ignore[call-arg]  # torch's stub lacks this overload
        self.at_the_wait = at_the_wait
        self._inner, self._ranks, self._recorder = inner, tuple(ranks), recorder
        self._batch: list[Entry] | None = None

    def getBackendName(self) -> str:  # noqa: N802  (torch's name)
        return "recorded"

    def __repr__(self) -> str:
        """As torch's errors show it: no address, which would make two reports of the same failure differ."""
        return f"<ranks {', '.join(map(str, self._ranks))}>"

    def send(self, tensors: list[torch.Tensor], dst: int, tag: int = 0) -> dist.Work:
        return self._point_to_point("send", self._inner.send, tensors, dst, tag)

    def recv(self, tensors: list[torch.Tensor], src: int, tag: int = 0) -> dist.Work:
        return self._point_to_point("recv", self._inner.recv, tensors, src, tag)

    def recv_anysource(self, tensors: list[torch.Tensor], tag: int = 0) -> dist.Work:
        entry = self._recorder.start("recv", -1, _nbytes(tensors), tag, self._ranks)
        return self._recorded(self._inner.recv_anysource(tensors, tag), [entry])

    def _point_to_point(
        self, kind: str, method: Callable[..., dist.Work], tensors: list[torch.Tensor], peer: int, tag: int
    ) -> dist.Work:
        entry = self._recorder.start(kind, self._ranks[peer], _nbytes(tensors), tag, self._ranks)
        work = method(tensors, peer, tag)
        if self._batch is not None:
            self._batch.append(entry)
            return work
        return self._recorded(work, [entry])

    def batch(self, operations: Sequence[Callable[[], Any]], device: torch.device) -> list[dist.Work]:
        """Runs point-to-point calls as one batch of the library (NCCL groups them); one handle for all of them."""
        self._batch = []
        try:
            self._inner._start_coalescing(device)
            for operation in operations:
                operation()
            work = self._inner._end_coalescing(device)
            entries = self._batch
        finally:
            self._batch = None
        self._recorder.running()
        return [RecordedWork([work], entries, self._recorder)]

    def _recorded(self, work: dist.Work, entries: Sequence[Entry], delivery: Delivery | None = None) -> dist.Work:
        self._recorder.running()
        return RecordedWork([work], entries, self._recorder, delivery)

    def shutdown(self) -> None:
        self._inner.shutdown()

    def abort(self) -> None:
        self._inner.abort()


def _nbytes(tensors: Any) -> int:
    """Bytes of a tensor or of all tensors in nested lists."""
    if isinstance(tensors, torch.Tensor):
        return tensors.numel() * tensors.element_size()
    return sum(_nbytes(tensor) for tensor in tensors)


def _flat(tensors: Any) -> list[torch.Tensor]:
    """A tensor, or all tensors in nested lists, as one list."""
    if isinstance(tensors, torch.Tensor):
        return [tensors]
    return [tensor for part in tensors for tensor in _flat(part)]


def _nested_clones(tensors: Any) -> Any:
    if isinstance(tensors, torch.Tensor):
        return tensors.detach().clone()
    return [_nested_clones(part) for part in tensors]


# For each method of a process group: the operation's name, which argument is counted, and whether it is one rank's part
# of the whole (then it counts times the group's size: S of nccl-tests is the large side).
_COLLECTIVES = {
    "allreduce": ("all_reduce", 0, False),
    "allreduce_coalesced": ("all_reduce", 0, False),
    "broadcast": ("broadcast", 0, False),
    "reduce": ("reduce", 0, False),
    "allgather": ("all_gather", 1, True),
    "_allgather_base": ("all_gather", 1, True),
    "all_gather_single": ("all_gather", 1, True),
    "allgather_coalesced": ("all_gather", 1, True),
    "allgather_into_tensor_coalesced": ("all_gather", 1, True),
    "all_gather_single_coalesced": ("all_gather", 1, True),
    "reduce_scatter": ("reduce_scatter", 0, True),
    "_reduce_scatter_base": ("reduce_scatter", 0, True),
    "reduce_scatter_single": ("reduce_scatter", 0, True),
    "reduce_scatter_tensor_coalesced": ("reduce_scatter", 0, True),
    "reduce_scatter_single_coalesced": ("reduce_scatter", 0, True),
    "gather": ("gather", 1, True),
    "scatter": ("scatter", 0, True),
    "alltoall": ("all_to_all", 1, False),
    "alltoall_base": ("all_to_all", 1, False),
    "all_to_all_single": ("all_to_all", 1, False),
    "barrier": ("barrier", None, False),
    "monitored_barrier": ("barrier", None, False),
}


def _forwarding(method: str, kind: str, counted: int | None, part: bool) -> Callable[..., dist.Work]:
    several = method.endswith("_coalesced")  # operations, one for each tensor of a list

    def collective(self: RecordingGroup, *args: Any, **kwargs: Any) -> dist.Work:
        about = [[]] if counted is None else (args[counted] or [[]]) if several else [args[counted]]
        times = self.size() if part else 1
        entries = [self._recorder.start(kind, -1, _nbytes(each) * times, 0, self._ranks) for each in about]
        delivery = None
        if counted is not None and not self.at_the_wait and getattr(args[-1], "asyncOp", False):
            delivery = Delivery(args[0])  # all methods take their outputs first
            args = (delivery.copies, *args[1:])
        return self._recorded(getattr(self._inner, method)(*args, **kwargs), entries, delivery)

    collective.__name__ = method
    return collective


for _method, _row in _COLLECTIVES.items():
    setattr(RecordingGroup, _method, _forwarding(_method, *_row))
