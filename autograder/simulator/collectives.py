"""Built-in collectives: whether the members' calls agree, what each of them gets, and how long it takes.

Time, from the moment that the last member has called and every member's ports are free; n members, latency a and
bandwidth b of the slowest link between them, S bytes:

    all_reduce                     ring       2 (n-1) (a + S/n / b)
    all_gather, reduce_scatter     ring       (n-1) (a + s / b)          s: the largest single rank's part
    all_to_all                     pairwise   (n-1) a + max over ranks of what it sends to others / b
    gather, scatter                direct     a + bytes through the root's port / b
    broadcast, reduce              binomial   ceil(log2 n) (a + S / b)
    barrier                        dissemination   ceil(log2 n) a

All members' ports are taken from start to end, and all members are done at the end.
"""

from collections.abc import Callable, Iterator

import torch

from autograder.simulator.operation import Operation
from autograder.simulator.topology import Link, Topology
from autograder.simulator.wire import ITEM_SIZES

REDUCTIONS = ("SUM", "AVG", "PRODUCT", "MIN", "MAX", "BAND", "BOR", "BXOR")
FLOATS = ("float16", "bfloat16", "float32", "float64")
COMPLEX = ("complex64", "complex128")
INTEGERS = ("bool", "uint8", "int8", "int16", "int32", "int64")
REDUCING = ("all_reduce", "reduce", "reduce_scatter")
ROOTED = ("broadcast", "reduce", "gather", "scatter")
NAMES = ("all_reduce", "all_gather", "all_to_all", "barrier", *ROOTED, "reduce_scatter")


def disagreement(first: Operation, second: Operation) -> str:
    """What two members' calls of the same number disagree about, apart from sizes; "" if nothing."""
    if first.kind != second.kind:
        return "the operation"
    if first.dtype != second.dtype:
        return f"the dtype ({first.dtype} and {second.dtype})"
    if first.op != second.op:
        return f"the reduction ({first.op} and {second.op})"
    if first.peer != second.peer:
        return f"the root (rank {first.peer} and rank {second.peer})"
    return ""


def size_mismatch(calls: list[Operation]) -> tuple[Operation, Operation, str] | None:
    """Two members whose sizes do not fit together, and how; None if all do. `calls` are in group order."""
    for call, other, size, other_size in _facing(calls):
        if size != other_size:
            return call, other, f"{_elements(size)} and {_elements(other_size)}"
    return None


def _facing(calls: list[Operation]) -> Iterator[tuple[Operation, Operation, int, int]]:
    """All pairs of calls with the two sizes that have to be equal between them."""
    kind, first = calls[0].kind, calls[0]
    root = next((call for call in calls if call.rank == call.peer), first)
    for i, call in enumerate(calls):
        if kind in ("all_reduce", "reduce"):
            yield first, call, first.sizes_in[0], call.sizes_in[0]
        elif kind == "broadcast" and call is not root:
            yield root, call, root.sizes_in[0], call.sizes_out[0]
        elif kind == "gather":
            yield root, call, root.sizes_out[i], call.sizes_in[0]
        elif kind == "scatter":
            yield root, call, root.sizes_in[i], call.sizes_out[0]
        elif kind == "all_gather":
            yield from ((call, other, call.sizes_in[0], other.sizes_out[i]) for other in calls)
        elif kind == "reduce_scatter":
            yield from ((call, other, call.sizes_in[j], other.sizes_out[0]) for j, other in enumerate(calls))
        elif kind == "all_to_all":
            yield from ((call, other, call.sizes_in[j], other.sizes_out[i]) for j, other in enumerate(calls))


def _elements(size: int) -> str:
    return f"{size} element{'' if size == 1 else 's'}"


def reduces(op: str, dtype: str) -> bool:
    """Whether the reduction is defined for the dtype."""
    if dtype in FLOATS:
        return op in ("SUM", "AVG", "PRODUCT", "MIN", "MAX")
    if dtype in COMPLEX:
        return op == "SUM"  # as gloo: there is no order to take a minimum by
    return dtype in INTEGERS and op in REDUCTIONS and op != "AVG"


def tensor_counts(name: str, n: int, at_root: bool) -> tuple[int, int]:
    """How many inputs and outputs a collective has on a rank of a group of `n`."""
    return {
        "all_reduce": (1, 1),
        "broadcast": (1, 0) if at_root else (0, 1),
        "reduce": (1, 1 if at_root else 0),
        "gather": (1, n if at_root else 0),
        "scatter": (n if at_root else 0, 1),
        "all_gather": (1, n),
        "reduce_scatter": (n, 1),
        "all_to_all": (n, n),
        "barrier": (0, 0),
    }[name]


def is_well_formed(call: Operation) -> bool:
    """Whether a rank's call has the tensors that its kind needs, so that nothing below can go wrong."""
    counts = tensor_counts(call.kind, len(call.group.ranks), call.rank == call.peer)
    return (
        (len(call.sizes_in), len(call.sizes_out)) == counts
        and (reduces(call.op, call.dtype) if call.kind in REDUCING else call.op == "")
        and (call.peer in call.group.ranks) == (call.kind in ROOTED)
        and (call.kind == "barrier" or call.dtype in ITEM_SIZES)
        and sum(call.sizes_in) * ITEM_SIZES.get(call.dtype, 0) == len(call.body or b"")
        and (call.kind not in ("all_reduce", "reduce") or call.sizes_out in ((), call.sizes_in))
    )


def deliver(calls: list[Operation]) -> None:
    """Gives each member in `calls` (in group order, agreed and fitting) its result as `body`."""
    kind = calls[0].kind
    root = next((call for call in calls if call.rank == call.peer), calls[0])
    bodies = [call.body or b"" for call in calls]
    results: list[bytes]
    if kind in ("all_reduce", "reduce"):
        total = _reduce(bodies, calls[0])
        results = [total if kind == "all_reduce" or call is root else b"" for call in calls]
    elif kind == "broadcast":
        results = [b"" if call is root else root.body or b"" for call in calls]
    elif kind == "gather":
        results = [b"".join(bodies) if call is root else b"" for call in calls]
    elif kind == "all_gather":
        results = [b"".join(bodies)] * len(calls)
    elif kind == "scatter":
        results = _pieces(root)
    elif kind == "reduce_scatter":
        results = [_reduce(list(parts), calls[0]) for parts in zip(*map(_pieces, calls), strict=False)]
    elif kind == "all_to_all":
        results = [b"".join(parts) for parts in zip(*map(_pieces, calls), strict=False)]
    else:
        results = [b""] * len(calls)
    for call, result in zip(calls, results, strict=False):
        call.body = result


def _pieces(call: Operation) -> list[bytes]:
    """The inputs of a call, one by one."""
    body, item, at, pieces = call.body or b"", ITEM_SIZES[call.dtype], 0, []
    for size in call.sizes_in:
        pieces.append(body[at : at + size * item])
        at += size * item
    return pieces


def _reduce(parts: list[bytes], call: Operation) -> bytes:
    """The parts reduced element by element, in rank order and in their own dtype, as gloo does."""
    if not parts[0]:
        return b""
    dtype = getattr(torch, call.dtype)
    total = torch.frombuffer(bytearray(parts[0]), dtype=dtype)
    for part in parts[1:]:
        other = torch.frombuffer(bytearray(part), dtype=dtype)
        total = _COMBINE[call.op](total, other)
    if call.op == "AVG":
        total = (total / len(parts)).to(dtype)
    return total.view(torch.uint8).numpy().tobytes()


_COMBINE: dict[str, Callable[[torch.Tensor, torch.Tensor], torch.Tensor]] = {
    "SUM": torch.add,
    "AVG": torch.add,
    "PRODUCT": torch.mul,
    "MIN": torch.minimum,
    "MAX": torch.maximum,
    "BAND": torch.bitwise_and,
    "BOR": torch.bitwise_or,
    "BXOR": torch.bitwise_xor,
}


def seconds(calls: list[Operation], topology: Topology) -> float:
    """How long the collective takes; see the top of the module. `calls` are in group order."""
    n = len(calls)
    if n == 1:
        return 0.0
    item = ITEM_SIZES.get(calls[0].dtype, 0)
    links = _links(calls[0].group.ranks, topology)
    a, b = max(link.latency for link in links), min(link.bandwidth for link in links)
    rounds = (n - 1).bit_length()
    kind = calls[0].kind
    root = next((call for call in calls if call.rank == call.peer), calls[0])
    if kind == "all_reduce":
        return 2 * (n - 1) * (a + sum(calls[0].sizes_in) * item / n / b)
    if kind == "all_gather":
        return (n - 1) * (a + max(sum(call.sizes_in) for call in calls) * item / b)
    if kind == "reduce_scatter":
        return (n - 1) * (a + max(sum(call.sizes_out) for call in calls) * item / b)
    if kind == "all_to_all":
        sent = max(sum(call.sizes_in) - call.sizes_in[index] for index, call in enumerate(calls))
        return (n - 1) * a + sent * item / b
    if kind in ("gather", "scatter"):
        sizes = root.sizes_in if kind == "scatter" else root.sizes_out
        own = sizes[calls.index(root)]
        return a + (sum(sizes) - own) * item / b
    if kind in ("broadcast", "reduce"):
        return rounds * (a + sum(root.sizes_in) * item / b)
    return rounds * a


def _links(ranks: tuple[int, ...], topology: Topology) -> list[Link]:
    """The links between neighbours when the members stand in a ring in rank order: the slowest is among them."""
    ring = sorted(ranks)
    return [topology.link(a, b) for a, b in zip(ring, ring[1:] + ring[:1], strict=True)]
