"""Work handles of the simulated process group: results are delivered at the wait."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

import torch
import torch.distributed as dist

from autograder.fabric import callsite
from autograder.simulator import memory
from autograder.simulator.endpoint import Endpoint
from autograder.simulator.future import LazyFuture
from autograder.simulator.tensors import Tensors, fill

FOREVER = timedelta(0)


class SimWork(dist.Work):
    """A handle on one operation. `outputs` are the tensors that it delivers into."""

    def __init__(self, endpoint: Endpoint, operation: int, outputs: Tensors, ranks: tuple[int, ...]) -> None:
        super().__init__()
        self._endpoint, self._operation, self._outputs, self._ranks = endpoint, operation, outputs, ranks
        self._done = False
        self._source = -1

    def wait(self, timeout: timedelta = FOREVER) -> bool:
        """Stops until the operation is done, then delivers. Waiting again changes nothing."""
        if not self._done:
            site = callsite.locate("wait")
            self._endpoint.guard.check(self._operation, site)
            self._deliver(*self._endpoint.wait(self._operation, site))
        return True

    def is_completed(self) -> bool:
        """Whether the operation is done; if it is, that counts as having waited for it."""
        if not self._done:
            site = callsite.locate("is_completed")
            self._endpoint.guard.check(self._operation, site)
            answer = self._endpoint.poll(self._operation, site)
            if answer is not None:
                self._deliver(*answer)
        return self._done

    def is_success(self) -> bool:
        return self.is_completed()

    def exception(self) -> None:
        """Mistakes end the run: a handle never carries one."""
        return None

    def synchronize(self) -> None:
        self.wait()

    def block_current_stream(self) -> None:
        self.wait()

    def result(self) -> list[torch.Tensor]:
        """The tensors that the operation delivered into, after waiting for it."""
        self.wait()
        return list(self._outputs)

    def get_future(self) -> torch.futures.Future[list[torch.Tensor]]:
        """A future of `result()`.

        It waits when it is waited for, or at once if torch's own code asks for it, which has no way to make it wait.
        """
        return LazyFuture(self.result, self.is_completed)

    def source_rank(self) -> int:
        """The rank in the group that the message came from."""
        return self._ranks.index(self._source) if self._source in self._ranks else -1

    _source_rank = source_rank

    def _deliver(self, source: int, body: bytearray) -> None:
        self._done, self._source = True, source
        self._endpoint.guard.remove(self._operation)
        if len(self._outputs) == 1 and self._outputs[0].is_contiguous():
            memory.write(self._outputs[0], body)
        elif body:
            with self._endpoint.guard.aside():
                fill(self._outputs, body)


class WorkOfAll(dist.Work):
    """One handle for several operations."""

    def __init__(self, works: Sequence[SimWork]) -> None:
        super().__init__()
        self._works = works

    def wait(self, timeout: timedelta = FOREVER) -> bool:
        return all([work.wait() for work in self._works])

    def is_completed(self) -> bool:
        return all([work.is_completed() for work in self._works])

    def is_success(self) -> bool:
        return self.is_completed()

    def exception(self) -> None:
        return None

    def synchronize(self) -> None:
        self.wait()

    def result(self) -> list[torch.Tensor]:
        return [tensor for work in self._works for tensor in work.result()]

    def get_future(self) -> torch.futures.Future[list[torch.Tensor]]:
        return LazyFuture(self.result, self.is_completed)
