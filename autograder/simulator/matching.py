"""Which send meets which receive.

A receive takes, of the messages in its group with its tag (and from its source, if it names one), the one that was seen
first; a message goes to the receive that was posted first. Messages from one rank to one rank with one tag never
overtake each other.
"""

from collections import defaultdict
from collections.abc import Callable

from autograder.simulator.operation import Group, Operation

Place = tuple[Group, int]


class Matcher:
    """Sends and receives that have not met. They have to be given in the order in which they are seen."""

    def __init__(self) -> None:
        self._sends: dict[Place, list[Operation]] = defaultdict(list)
        self._recvs: dict[Place, list[Operation]] = defaultdict(list)

    def send(self, send: Operation) -> Operation | None:
        """The receive that takes the message, or None: then the message is kept for a later one."""
        place = send.group, send.peer
        recv = _take(self._recvs[place], send, lambda recv: _fit(send, recv))
        if recv is None:
            self._sends[place].append(send)
        return recv

    def recv(self, recv: Operation) -> Operation | None:
        """The message for this receive, or None: then the receive is kept for a later one."""
        place = recv.group, recv.rank
        send = _take(self._sends[place], recv, lambda send: _fit(send, recv))
        if send is None:
            self._recvs[place].append(recv)
        return send


def _fit(send: Operation, recv: Operation) -> bool:
    return send.tag == recv.tag and recv.peer in (send.rank, -1)


def _take(waiting: list[Operation], other: Operation, fits: Callable[[Operation], bool]) -> Operation | None:
    for index, operation in enumerate(waiting):
        if fits(operation):
            del waiting[index]
            operation.partner, other.partner = other, operation
            return operation
    return None
