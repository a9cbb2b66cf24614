"""What each rank did, for tables, checks of cost and traces. Times are virtual seconds."""

from dataclasses import dataclass

import msgspec

from autograder.simulator.operation import Operation


@dataclass(frozen=True)
class OperationReport:
    """One operation. `start` is when it was posted and `end` when it was done (-1: never); `peer` -1 is everyone or anyone.

    `waited` is when the rank's wait for it returned, -1 if none did; `group` are the members' global ranks, in group order.
    """

    kind: str
    api: str
    peer: int
    nbytes: int
    group: tuple[int, ...]
    start: float
    end: float
    waited: float
    file: str
    line: int


@dataclass(frozen=True)
class RankReport:
    """One rank: its virtual time at the end, and its messages, of which only point-to-point ones are counted."""

    rank: int
    seconds: float
    messages_sent: int
    bytes_sent: int
    messages_received: int
    bytes_received: int
    operations: tuple[OperationReport, ...]


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


def _of_operation(operation: Operation) -> OperationReport:
    peer = operation.peer
    if operation.kind == "recv" and operation.partner is not None:
        peer = operation.partner.rank
    end = -1.0 if operation.end is None else operation.end
    waited = -1.0 if operation.waited is None else operation.waited
    place = operation.place
    return OperationReport(
        kind=operation.kind,
        api=place.api,
        peer=peer,
        nbytes=operation.nbytes,
        group=operation.group.ranks,
        start=operation.posted,
        end=end,
        waited=waited,
        file=place.file,
        line=place.line,
    )


_encoder = msgspec.json.Encoder(order="sorted")


def trace(ranks: list[list[Operation]], topology: str) -> str:
    """The operations of all ranks in the Chrome trace event format, which Perfetto and chrome://tracing open.

    A row a rank: what the rank was in (from the call to its wait) and, below, what was on the wire. Arrows follow the
    messages. Microseconds of virtual time.
    """
    events: list[dict] = [{"ph": "M", "name": "process_name", "pid": 0, "args": {"name": f"simulated {topology}"}}]
    for rank, operations in enumerate(ranks):
        events.append({"ph": "M", "name": "thread_name", "pid": 0, "tid": rank, "args": {"name": f"rank {rank}"}})
        for operation in operations:
            events.extend(_events(operation))
    lines = ",\n".join(_encoder.encode(event).decode() for event in events)  # an event a line: traces can be compared
    return f'{{"displayTimeUnit":"ns","traceEvents":[\n{lines}\n]}}\n'


def _events(operation: Operation) -> list[dict]:
    row = {"pid": 0, "tid": operation.rank}
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
    events = [
        {**span, "ph": "b", "ts": operation.posted * 1e6, "args": facts},
        {**span, "ph": "e", "ts": end * 1e6},
    ]
    if operation.kind == "send" and operation.partner is not None and operation.partner.end is not None:
        flow = {"cat": "message", "name": "message", "id": ident, "pid": 0}
        events.append({**flow, "ph": "s", "tid": operation.rank, "ts": operation.posted * 1e6})
        events.append({**flow, "ph": "f", "bp": "e", "tid": operation.partner.rank, "ts": operation.partner.end * 1e6})
    return events
