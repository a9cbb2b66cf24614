"""Every built-in collective gives what gloo gives."""

from dataclasses import dataclass

import pytest
import torch
import torch.distributed as dist
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from warm_ranks import Ranks

FLOATS = ("float16", "bfloat16", "float32", "float64")
INTEGERS = ("uint8", "int8", "int32", "int64")
BOOL, COMPLEX = "bool", "complex64"
WORLD_SIZES = (1, 2, 3, 4)
REDUCING = ("all_reduce", "reduce", "reduce_scatter", "reduce_scatter_single")
COLLECTIVES = (
    *REDUCING, "broadcast", "gather", "scatter", "all_gather", "all_gather_single", "all_gather_object",
    "broadcast_object_list", "all_to_all", "all_to_all_single", "uneven_all_to_all_single", "barrier",
)  # fmt: skip


@dataclass(frozen=True)
class Case:
    """One call. `members` are the group's ranks (None: the world), `root` an index among them."""

    collective: str
    dtype: str
    op: str
    shape: tuple[int, ...]
    root: int
    members: tuple[int, ...] | None
    is_async: bool
    is_transposed: bool
    seed: int


@st.composite
def cases(draw, n):
    collective = draw(st.sampled_from(COLLECTIVES))
    dtype = draw(st.sampled_from(_dtypes(collective)))
    ops = {COMPLEX: ["SUM"], BOOL: ["SUM", "PRODUCT", "MIN", "MAX", "BAND", "BOR"]}.get(dtype)
    more = ["AVG"] if dtype in FLOATS else ["BAND", "BOR", "BXOR"]
    ops = ops or ["SUM", "PRODUCT", "MIN", "MAX", *more]
    members = draw(st.none() | st.sets(st.integers(0, n - 1), min_size=1).map(sorted).map(tuple))
    return Case(
        collective,
        dtype,
        draw(st.sampled_from(ops)),
        tuple(draw(st.lists(st.integers(0, 4), min_size=1, max_size=3))),
        draw(st.integers(0, len(members or range(n)) - 1)),
        members,
        draw(st.booleans()),
        draw(st.booleans()),
        draw(st.integers(0, 2**16)),
    )


def _dtypes(collective):
    """What gloo takes."""
    return FLOATS + INTEGERS + ((BOOL,) if collective == "gather" else (BOOL, COMPLEX))


groups: dict = {}


def call(rank, n, case):
    """The collective's outputs on this rank; None outside of the group."""
    group = None
    if case.members is not None:
        if case.members not in groups:
            groups[case.members] = dist.new_group(list(case.members))
        group = groups[case.members]
        if rank not in case.members:
            return None
    members = case.members or tuple(range(n))
    size, root = len(members), members[case.root]
    random = torch.Generator().manual_seed(case.seed + rank)

    def tensor(*shape):
        values = torch.randint(-3, 4, shape, generator=random)
        values = (values if case.dtype in (*FLOATS, COMPLEX) else values + 3).to(getattr(torch, case.dtype))
        return values.transpose(0, -1).contiguous().transpose(0, -1) if case.is_transposed else values

    op, is_root = getattr(dist.ReduceOp, case.op), rank == root
    x = tensor(*case.shape)
    parts = [tensor(*case.shape) for _ in range(size)]
    options = {"group": group, "async_op": case.is_async}
    work, result = None, x
    if case.collective == "all_reduce":
        work = dist.all_reduce(x, op, **options)
    elif case.collective == "reduce":
        work = dist.reduce(x, root, op, **options)
        result = x if is_root else None  # gloo leaves something there, the simulation leaves it alone
    elif case.collective == "reduce_scatter":
        work = dist.reduce_scatter(x, parts, op, **options)
    elif case.collective == "reduce_scatter_single":
        many = tensor(size * case.shape[0], *case.shape[1:]).contiguous()
        result = torch.empty(case.shape, dtype=many.dtype)
        work = reduce_scatter_single(result, many, op, **options)
    elif case.collective == "broadcast":
        work = dist.broadcast(x, root, **options)
    elif case.collective == "gather":
        work, result = dist.gather(x, parts if is_root else None, root, **options), parts if is_root else None
    elif case.collective == "scatter":
        work = dist.scatter(x, parts if is_root else None, root, **options)
    elif case.collective == "all_gather":
        work, result = dist.all_gather(parts, x, **options), parts
    elif case.collective == "all_gather_single":
        result = torch.empty(size * case.shape[0], *case.shape[1:], dtype=x.dtype)
        work = all_gather_single(result, x.contiguous(), **options)
    elif case.collective == "all_gather_object":
        result = [None] * size
        dist.all_gather_object(result, {"rank": rank}, group=group)
    elif case.collective == "broadcast_object_list":
        result = [rank, "text" * rank]
        dist.broadcast_object_list(result, root, group=group)
    elif case.collective == "all_to_all":
        result = [torch.empty(*case.shape, dtype=x.dtype) for _ in range(size)]
        work = dist.all_to_all(result, [part.contiguous() for part in parts], **options)
    elif case.collective == "all_to_all_single":
        many = tensor(size * case.shape[0], *case.shape[1:]).contiguous()
        result = torch.empty_like(many)
        work = dist.all_to_all_single(result, many, **options)
    elif case.collective == "uneven_all_to_all_single":
        index = members.index(rank)
        sent = [(index + 2 * j) % 3 for j in range(size)]
        got = [(j + 2 * index) % 3 for j in range(size)]
        result = torch.empty(sum(got), dtype=x.dtype)
        work = dist.all_to_all_single(result, tensor(sum(sent)).contiguous(), got, sent, **options)
    else:
        work = dist.barrier(**options)
    if work is not None:
        assert case.is_async
        work.wait()
    return result


def all_gather_single(*args, **options):
    return getattr(dist, "all_gather_single", dist.all_gather_into_tensor)(*args, **options)


def reduce_scatter_single(*args, **options):
    return getattr(dist, "reduce_scatter_single", dist.reduce_scatter_tensor)(*args, **options)


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    """Simulated and gloo ranks for each world size."""
    folder = str(tmp_path_factory.mktemp("gloo"))
    pairs = {n: (Ranks(n), Ranks(n, gloo=folder)) for n in WORLD_SIZES}
    yield pairs
    for pair in pairs.values():
        for ranks in pair:
            ranks.close()


@pytest.mark.parametrize("n", WORLD_SIZES)
def test_the_same_as_gloo(n, both):
    simulated, real = both[n]

    @settings(max_examples=200, deadline=None, database=None, derandomize=True, suppress_health_check=list(HealthCheck))
    @given(cases(n))
    def check(case):
        outcome, wanted = simulated.run(call, case), real.run(call, case).results
        assert outcome.verdict is None, str(outcome.verdict)
        for got, expected in zip(outcome.results, wanted, strict=True):
            assert type(got) is type(expected), (got, expected)
            torch.testing.assert_close(got, expected, rtol=2e-2, atol=0) if has_floats(expected) else compare(
                got, expected
            )

    check()


def has_floats(value):
    first = value[0] if isinstance(value, list) and value else value
    return isinstance(first, torch.Tensor) and first.is_floating_point()


def compare(got, expected):
    if isinstance(expected, torch.Tensor):
        assert got.dtype == expected.dtype and torch.equal(got, expected)
    elif isinstance(expected, list):
        assert len(got) == len(expected)
        for a, b in zip(got, expected, strict=True):
            compare(a, b)
    else:
        assert got == expected
