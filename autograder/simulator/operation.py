"""What the switch knows: groups, places in the code, and one record for each operation of a rank."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Place:
    """A line of the student's code and the function of torch that it calls."""

    api: str = ""
    file: str = ""
    line: int = 0
    function: str = ""

    def __str__(self) -> str:
        return f"{self.file.rsplit('/', 1)[-1]}:{self.line}" if self.file else "an unknown line"


@dataclass(frozen=True, eq=False)
class Group:
    """A process group: torch's name for it and its members' global ranks, in group order. One object for each group."""

    name: str
    ranks: tuple[int, ...]


class Operation:
    """One operation of one rank, from the moment it is posted.

    `kind` is "send", "recv" or a collective's name. `peer` is a global rank; -1 is anyone, for a recv, and for a
    collective its root's absence. `sizes_in` and `sizes_out` are elements (of a collective, tensor by tensor), `nbytes`
    the bytes of the message or of the collective's larger side on this rank. Times are virtual seconds: `posted`;
    `ready`, when the other side could first see it; `start` of the transfer and `end` of the operation, and `arrival`
    of a message, None while they are open; `waited`, when the rank's wait returned.
    """

    __slots__ = (
        "rank", "id", "kind", "group", "peer", "tag", "dtype", "op", "nbytes", "sizes_in", "sizes_out", "place",
        "posted", "ready", "start", "end", "arrival", "waited", "body", "partner",
        "sequence",
    )  # fmt: skip

    def __init__(self, rank: int, id: int, kind: str, group: Group, place: Place, posted: float) -> None:
        self.rank, self.id, self.kind, self.group, self.place, self.posted = rank, id, kind, group, place, posted
        self.peer, self.tag, self.dtype, self.op = -1, 0, "", ""
        self.nbytes = 0
        self.sizes_in: tuple[int, ...] = ()
        self.sizes_out: tuple[int, ...] = ()
        self.ready = posted
        self.start: float | None = None
        self.end: float | None = None
        self.arrival: float | None = None
        self.waited: float | None = None
        self.body: bytes | None = None  # what is sent, or what arrived and is still to be delivered
        self.partner: Operation | None = None  # the matched other side of a message
        self.sequence = 0  # of a collective: its number in its group on this rank

    @property
    def is_message(self) -> bool:
        return self.kind in ("send", "recv")

    def __str__(self) -> str:
        """For a sentence: "isend to rank 2 (ring.py:14)"."""
        api = self.place.api or self.kind
        if self.kind == "send":
            what = f"{api if 'send' in api else api + ' (send)'} to rank {self.peer}"
        elif self.kind == "recv":
            sender = "any rank" if self.peer < 0 else f"rank {self.peer}"
            what = f"{api if 'recv' in api else api + ' (recv)'} from {sender}"
        else:
            what = api if api == self.kind else f"{api} ({self.kind})"
        if self.tag:
            what += f" with tag {self.tag}"
        return f"{what} ({self.place})"
