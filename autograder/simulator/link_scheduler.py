"""The wires in virtual time.

The model, for every transfer (a message; a collective counts as one transfer of all its members):

- Each rank has one outgoing and one incoming port, whatever link is behind them.
- A transfer is ready once both sides have posted it (a buffered send: once it is posted). It starts at the first moment
  from then on at which all of its ports are free, and keeps them for bytes / bandwidth of the link.
- Among transfers that could start at the same moment: earliest ready first, then the one posted first on its rank,
  then the lowest rank.
- A send is done when its ports are free again. Its receive is done one latency later.
"""

from collections.abc import Sequence

from autograder.simulator.operation import Operation


class Transfer:
    """Something that occupies `ports` for `seconds`; `operations` are the sides of it.

    Port 2r is the outgoing one of rank r, port 2r + 1 its incoming one.
    """

    __slots__ = ("operations", "ports", "seconds", "latency", "order", "start", "end")

    def __init__(
        self,
        operations: tuple[Operation, ...],
        ports: Sequence[int],
        seconds: float,
        latency: float,
        ready: float,
    ) -> None:
        self.operations, self.ports, self.seconds, self.latency = operations, ports, seconds, latency
        first = operations[0]
        self.order = (ready, first.id, first.rank)
        self.start = self.end = 0.0


class LinkScheduler:
    """The ports of all ranks and the transfers that wait for them."""

    def __init__(self, world_size: int) -> None:
        self._free = [0.0] * (2 * world_size)
        self._waiting: list[dict[Transfer, None]] = [{} for _ in self._free]
        self._changed: set[int] = set()

    def add(self, transfer: Transfer) -> None:
        """A transfer has become ready."""
        for port in transfer.ports:
            self._waiting[port][transfer] = None
            self._changed.add(port)

    def start(self, now: float) -> list[Transfer]:
        """Starts what can start at `now`, which must not lie before any earlier `now`. Their `end` frees the ports."""
        started = []
        changed = [port for port in self._changed if self._free[port] <= now]
        self._changed.clear()
        candidates = {transfer: None for port in changed for transfer in self._waiting[port]}
        for transfer in sorted(candidates, key=lambda transfer: transfer.order):
            if any(self._free[port] > now for port in transfer.ports):
                continue
            transfer.start, transfer.end = now, now + transfer.seconds
            for port in transfer.ports:
                self._free[port] = transfer.end
                del self._waiting[port][transfer]
            started.append(transfer)
        return started

    def release(self, transfer: Transfer) -> None:
        """The transfer's end has come: its ports may take the next."""
        self._changed.update(transfer.ports)
