"""What a rank tells the switch, checked and made into operations. Whatever makes no sense is a MalformedMessage."""

from autograder.simulator import collectives, wire
from autograder.simulator.operation import Group, Operation, Place
from autograder.simulator.wire import ITEM_SIZES, MalformedMessage

MAX_SITES = 1 << 12  # of a rank, in all of its examples
MAX_GROUPS = 1 << 12
MAX_OPERATIONS = 1 << 22


def expect(condition: bool, what: str) -> None:
    """Raises MalformedMessage, which says what a rank has sent, unless the condition holds."""
    if not condition:
        raise MalformedMessage(what)


class Names:
    """The numbers that one rank has given to places in the code and to groups, told once each, in order."""

    def __init__(self) -> None:
        self._sites: list[Place] = []
        self._groups: list[Group] = []

    def add_site(self, message: wire.Site) -> None:
        expect(message.id == len(self._sites) < MAX_SITES, "a place out of turn")
        self._sites.append(Place(message.api, message.file, message.line, message.function))

    def add_group(self, number: int, group: Group) -> None:
        expect(number == len(self._groups) < MAX_GROUPS, "a group out of turn")
        self._groups.append(group)

    def place(self, number: int) -> Place:
        expect(number < len(self._sites), "an unknown place")
        return self._sites[number]

    def group(self, number: int) -> Group:
        expect(number < len(self._groups), "an unknown group")
        return self._groups[number]


def operation(rank: int, count: int, names: Names, message: wire.Begin, body: bytes) -> Operation:
    """The operation, the rank's number `count`, that a message tells of."""
    expect(message.id == count < MAX_OPERATIONS, "an operation out of turn")
    kind = message.name if isinstance(message, wire.Collective) else type(message).__name__.lower()
    begun = Operation(rank, count, kind, names.group(message.group), names.place(message.site), message.clock)
    if isinstance(message, wire.Collective):
        _call(begun, message, body)
    else:
        _message(begun, message, body)
    return begun


def _message(begun: Operation, message: wire.Send | wire.Recv, body: bytes) -> None:
    """Puts in the particulars of a send or a receive."""
    peer = message.peer
    expect(message.dtype in ITEM_SIZES, "an unknown dtype")
    expect(peer != begun.rank, "an operation with itself")
    begun.peer, begun.tag, begun.dtype = peer, message.tag, message.dtype
    begun.nbytes = message.numel * ITEM_SIZES[message.dtype]
    if begun.kind == "send":
        expect(peer in begun.group.ranks, "an unknown peer")
        expect(len(body) == begun.nbytes, "a message of a wrong size")
        begun.sizes_in, begun.body = (message.numel,), body
    else:
        expect(peer in begun.group.ranks or peer == -1, "an unknown peer")
        expect(not body, "a receive with data")
        begun.sizes_out = (message.numel,)


def _call(begun: Operation, message: wire.Collective, body: bytes) -> None:
    """Puts in the particulars of a collective."""
    expect(message.name in collectives.NAMES, "an unknown collective")
    begun.dtype, begun.op, begun.peer, begun.body = message.dtype, message.op, message.root, body
    begun.sizes_in, begun.sizes_out = tuple(message.inputs), tuple(message.outputs)
    expect(collectives.is_well_formed(begun), "an impossible collective")
    begun.nbytes = max(sum(message.inputs), sum(message.outputs)) * ITEM_SIZES.get(message.dtype, 0)
