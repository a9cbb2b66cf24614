"""What each rank did, for tables, checks of cost and traces. Times are virtual seconds."""

from dataclasses import dataclass
from typing import Any

import msgspec

from autograder.protocol import operation as protocol
from autograder.simulator.operation import Operation


@dataclass(frozen=True)
class RankReport:
    """One rank: its virtual time at the end, and its messages, of which only point-to-point ones are counted."""

    rank: int
    seconds: float
    messages_sent: int
    bytes_sent: int
    messages_received: int
    bytes_received: int
    operations: tuple[protocol.Operation, ...]


def of_rank(rank: int, clock: float, operations: list[Operation]) -> RankReport:
    """The report on one rank."""
    sent = [operation for operation in operations if operation.kind == "send" and operation.partner is not None]
    received = [operation for operation in operations if operation.kind == "recv" and operation.end is not None]
    return RankReport(
        rank,
        clock,
        len(sent),
        sum(operation.nbytes for operation in sent),
        len(received),
        sum(operation.nbytes for operation in received),
        tuple(_of_operation(operation) for operation in operations),
    )


def _of_operation(operation: Operation) -> protocol.Operation:
    """What the grader is told of it: `peer` is whom a message came from in the end."""
    place = operation.place
    return protocol.Operation(
        kind=operation.kind,
        api=place.api,
        peer=operation.partner.rank if operation.kind == "recv" and operation.partner else operation.peer,
        nbytes=operation.nbytes,
        tag=operation.tag,
        group=operation.group.ranks,
        start=operation.posted,
        end=-1.0 if operation.end is None else operation.end,
        file=place.file,
        line=place.line,
    )


Event = dict[str, Any]  # of the Chrome trace event format, whose arguments are anything
_encoder = msgspec.json.Encoder(order="sorted")


def trace(ranks: list[list[Operation]], topology: str) -> str:
    """The operations of all ranks in the Chrome trace event format, which Perfetto and chrome://tracing open.

    A row a rank: what the rank was in (from the call to its wait) and, below, what was on the wire. Arrows follow the
    messages. Microseconds of virtual time.
    """
    events: list[Event] = [{"ph": "M", "name": "process_name", "pid": 0, "args": {"name": f"simulated {topology}"}}]
    for rank, operations in enumerate(ranks):
        events.append({"ph": "M", "name": "thread_name", "pid": 0, "tid": rank, "args": {"name": f"rank {rank}"}})
        for operation in operations:
            events.extend(_events(operation))
    lines = ",\n".join(_encoder.encode(event).decode() for event in events)  # an event a line: traces can be compared
    return f'{{"displayTimeUnit":"ns","traceEvents":[\n{lines}\n]}}\n'


def _events(operation: Operation) -> list[Event]:
    row: Event = {"pid": 0, "tid": operation.rank}
    end = operation.end if operation.end is not None else operation.posted
    facts = {
        "operation": str(operation),
        "bytes": operation.nbytes,
        "start": operation.start,
        "waited": operation.waited,
    }
    name = operation.place.api or operation.kind
    if operation.peer >= 0:
        name += f" {'>' if operation.kind == 'send' else '<'} {operation.peer}"
    # Asynchronous events may overlap on a row; a begin and an end are tied together by their id.
    ident = f"{operation.rank}.{operation.id}"
    span = {**row, "cat": operation.kind, "name": name, "id": ident}
    events: list[Event] = [
        {**span, "ph": "b", "ts": operation.posted * 1e6, "args": facts},
        {**span, "ph": "e", "ts": end * 1e6},
    ]
    if operation.kind == "send" and operation.partner is not None and operation.partner.end is not None:
        flow = {"cat": "message", "name": "message", "id": ident, "pid": 0}
        events.append({**flow, "ph": "s", "tid": operation.rank, "ts": operation.posted * 1e6})
        events.append({**flow, "ph": "f", "bp": "e", "tid": operation.partner.rank, "ts": operation.partner.end * 1e6})
    return events
