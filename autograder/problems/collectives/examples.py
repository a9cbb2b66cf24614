"""Examples of problem 1: one collective, called once or twice in a row by the members of a group."""

from __future__ import annotations

import dataclasses
import functools
import math
from typing import Any

import numpy as np
import torch
from hypothesis import strategies as st

from autograder.checks.example import Call, Description
from autograder.checks.expected import BITS, from_bits
from autograder.checks.placement import InOneGroup
from autograder.checks.show import show_arguments, show_dtype
from autograder.cluster.simulated import SimulationConfig
from autograder.problems.collectives.expected import Arguments
from autograder.problems.collectives.messages import CallArguments, Keywords, entry, of_call
from autograder.problems.common.rank_side.layouts import LAYOUTS

REDUCERS = ("reduce", "reduce_scatter", "all_reduce")
ROOTED = {"broadcast": "src", "scatter": "src", "gather": "dst", "reduce": "dst"}
OPS = ("SUM", "PRODUCT", "MIN", "MAX", "AVG")
FLOATS = (torch.float32, torch.float64, torch.float16, torch.bfloat16)
INTEGERS = (torch.int64, torch.int32, torch.int16, torch.uint8)
SIGNATURES = {
    "broadcast": "broadcast(tensor, {root})",
    "scatter": "scatter(tensor, scatter_list, {root})",
    "gather": "gather(tensor, gather_list, {root})",
    "reduce": "reduce(tensor, {root}, op=ReduceOp.{op})",
    "all_gather": "all_gather(output, input)",
    "reduce_scatter": "reduce_scatter(output, input, op=ReduceOp.{op})",
    "all_reduce": "all_reduce(tensor, op=ReduceOp.{op})",
    "all_to_all": "all_to_all(output, input{splits})",
}


@dataclasses.dataclass(frozen=True)
class Collective(InOneGroup):
    """One example. `shape` is that of the tensor, or of one rank's block where ranks hold blocks of a whole.

    `members` are the group's global ranks (None: the whole world, and `group=None`), `root` a position among them.
    `must_raise` names the exception that the call has to end with, if it has to. `topology` and `schedule` are what it
    is simulated on. `splits[i][j]` are the rows that member i sends to member j (all_to_all; None: equal blocks, no
    split sizes passed); the split sizes of the argument `without` are not passed, for they are equal.
    """

    function: str
    world_size: int
    members: tuple[int, ...] | None = None
    shape: tuple[int, ...] = (4,)
    dtype: torch.dtype = torch.float32
    op: str = "SUM"
    root: int = 0
    layout: str = "contiguous"
    values: str = "counting"
    seed: int = 0
    calls: int = 1
    splits: tuple[tuple[int, ...], ...] | None = None
    without: str = ""
    must_raise: str = ""
    topology: str = "laptop"
    schedule: int | None = None

    @property
    def block_nbytes(self) -> int:
        """Bytes of a tensor of `shape`."""
        return math.prod(self.shape) * self.dtype.itemsize

    def rows(self) -> tuple[tuple[int, ...], ...]:
        """Rows from member i to member j, equal blocks spelled out."""
        rows = self.shape[0] if self.shape else 1
        return self.splits or ((rows,) * self.size,) * self.size

    @functools.cached_property
    def arguments(self) -> list[list[Arguments]]:
        """The tensor arguments before the calls: by call, by member, by name."""
        return [[self._arguments(call, member) for member in range(self.size)] for call in range(self.calls)]

    def _arguments(self, call: int, member: int) -> Arguments:
        shapes = self._shapes(member)
        keys = enumerate(shapes.items())
        return {name: self._fill(shape, call, member, part) for part, (name, shape) in keys}

    def _shapes(self, member: int) -> dict[str, tuple[int, ...]]:
        """The tensors that a member passes."""
        whole = (self.size * self.shape[0], *self.shape[1:]) if self.shape else (self.size,)
        if self.function in ("scatter", "gather"):
            count = self.size if member == self.root else 0
            return {"tensor": self.shape, **{entry(f"{self.function}_list", i): self.shape for i in range(count)}}
        if self.function == "all_gather":
            return {"output": whole, "input": self.shape}
        if self.function == "reduce_scatter":
            return {"output": self.shape, "input": whole}
        if self.function == "all_to_all":
            rows, rest = self.rows(), self.shape[1:]
            return {"output": (sum(row[member] for row in rows), *rest), "input": (sum(rows[member]), *rest)}
        return {"tensor": self.shape}

    def _fill(self, shape: tuple[int, ...], call: int, member: int, part: int) -> torch.Tensor:
        """Values that differ by call, member, argument and element, so that no mix-up goes unseen."""
        count = math.prod(shape)
        if self.values == "counting":
            flat = _counting(count, self.op if self.function in REDUCERS else "", call, member, part)
            return torch.from_numpy(flat).to(self.dtype).reshape(shape)
        generator = np.random.default_rng((self.seed, call, member, part))
        if self.function in REDUCERS:
            return _numbers(generator, count, self.dtype).reshape(shape)
        return _any_bits(generator, count, self.dtype).reshape(shape)

    def call(self) -> Call:
        """What the ranks are asked; ranks outside of the group get nothing but the group."""
        asked = [self._asked(rank) for rank in range(self.world_size)]
        tensors = [self._tensors(rank) for rank in range(self.world_size)]
        return Call("call", tuple(asked), tuple(tensors), SimulationConfig(self.topology, self.schedule))

    def _asked(self, rank: int) -> CallArguments:
        group = list(self.members) if self.members else None
        if rank not in self.ranks:
            return CallArguments(function=self.function, group=group, must_raise=self.must_raise)
        member = self.ranks.index(rank)
        return CallArguments(
            function=self.function,
            group=group,
            must_raise=self.must_raise,
            calls=self.calls,
            tensors=self._lengths(member),
            layout=self.layout,
            keywords=self._keywords(member),
        )

    def _tensors(self, rank: int) -> dict[str, torch.Tensor]:
        if rank not in self.ranks:
            return {}
        mine = [by_member[self.ranks.index(rank)] for by_member in self.arguments]
        return {of_call(call, name): tensor for call, named in enumerate(mine) for name, tensor in named.items()}

    def _keywords(self, member: int) -> Keywords:
        rooted, splits = ROOTED.get(self.function), self.splits
        root = self.ranks[self.root]
        sent_to_it = [row[member] for row in splits] if splits is not None and self.without != "output" else None
        sent_by_it = list(splits[member]) if splits is not None and self.without != "input" else None
        return Keywords(
            src=root if rooted == "src" else None,
            dst=root if rooted == "dst" else None,
            op=self.op if self.function in REDUCERS else None,
            output_split_sizes=sent_to_it,
            input_split_sizes=sent_by_it,
        )

    def _lengths(self, member: int) -> dict[str, int | None]:
        """The tensor arguments in order, each with the length of the list that it is."""
        if self.function in ("scatter", "gather"):
            return {"tensor": None, f"{self.function}_list": self.size if member == self.root else 0}
        return dict.fromkeys(self._shapes(member))

    def describe(self) -> Description:
        """The call in a student's words."""
        root = f"{ROOTED[self.function]}={self.ranks[self.root]}" if self.function in ROOTED else ""
        passed = [side for side in ("output", "input") if self.splits is not None and side != self.without]
        splits = "".join(f", {side}_split_sizes=..." for side in passed)
        call = SIGNATURES[self.function].format(root=root, op=self.op, splits=splits)
        if self.members:
            call = f"{call[:-1]}, group={list(self.members)})"
        shape = "a block of shape" if self.function in ("all_gather", "reduce_scatter") else "shape"
        setting = [f"world size {self.world_size}", show_dtype(self.dtype)]
        setting.append(f"rows sent {list(map(list, self.rows()))}" if self.splits else f"{shape} {self.shape}")
        if self.layout != "contiguous":
            offset = self.layout == "offset"
            setting.append("a slice of a larger tensor" if offset else f"not contiguous ({self.layout})")
        if self.calls > 1:
            setting.append(f"{self.calls} calls in a row")
        return Description(call, ", ".join(setting), tuple(self._given(rank) for rank in range(self.world_size)))

    def _given(self, rank: int) -> str:
        if rank not in self.ranks:
            return "not in the group"
        member = self.ranks.index(rank)
        return show_arguments([by_member[member] for by_member in self.arguments])


def _counting(count: int, op: str, call: int, member: int, part: int) -> np.ndarray:
    """Small whole numbers that a reader can follow: the tens tell the member (and argument), the units the element."""
    index = np.arange(count)
    if op == "PRODUCT":
        return (index + member + part + call) % 3 + 1
    numbers = 10 * (member + 5 * part) + index + 1 + 3 * call
    return -numbers if op == "MAX" else numbers


def _numbers(generator: np.random.Generator, count: int, dtype: torch.dtype) -> torch.Tensor:
    """Numbers to compute with, of both signs.

    Integers are of their whole range, to wrap and to outgrow every float, one in four of them at its ends, or zero.
    """
    if dtype == torch.bool:
        return torch.from_numpy(generator.integers(0, 2, count).astype(bool))
    if dtype.is_floating_point:
        signs = generator.choice((-1.0, 1.0), count)
        return torch.from_numpy(signs * generator.uniform(0.25, 2.0, count)).to(dtype)
    info = torch.iinfo(dtype)
    drawn = generator.integers(info.min, info.max, count, dtype=np.int64, endpoint=True)
    ends = generator.choice(np.array([info.min, info.max, 0], dtype=np.int64), count)
    return torch.from_numpy(np.where(generator.random(count) < 0.25, ends, drawn)).to(dtype)


def _any_bits(generator: np.random.Generator, count: int, dtype: torch.dtype) -> torch.Tensor:
    """Anything that the dtype can hold, NaN and infinities too: whoever only moves it has no reason to look at it."""
    if dtype == torch.bool:
        return _numbers(generator, count, dtype)
    return from_bits(
        generator.integers(0, 256, count * dtype.itemsize, dtype=np.uint8).view(BITS[dtype.itemsize]), dtype
    )


def dtypes(function: str, op: str = "SUM") -> tuple[torch.dtype, ...]:
    """The dtypes that a collective is asked to take: all that torch can reduce so, and more for moves."""
    if function not in REDUCERS:
        return (*FLOATS, *INTEGERS, torch.bool, torch.complex64)
    if op == "AVG":
        return FLOATS
    return (*FLOATS, *INTEGERS, torch.bool) if op in ("MIN", "MAX") else (*FLOATS, *INTEGERS)


def collectives(function: str, world_size: int, **fixed: Any) -> st.SearchStrategy[Collective]:
    """Draws examples; what `fixed` names is drawn from there, the rest is plain.

    Plain are a few elements, float32 or int64, and SUM.
    """

    @st.composite
    def draw_example(draw: st.DrawFn) -> Collective:
        members = draw(fixed["members"]) if "members" in fixed else None
        size = len(members) if members else world_size
        op = draw(fixed.get("op", st.just("SUM")))
        drawn = {
            "members": members,
            "shape": draw(fixed.get("shape", st.sampled_from([(size,), (2 * size,), (size, 3), (4 * size,)]))),
            "dtype": draw(fixed.get("dtype", PLAIN_DTYPES)),
            "op": op,
            "root": draw(st.integers(0, size - 1)) if function in ROOTED else 0,
            "layout": draw(fixed.get("layout", st.just("contiguous"))),
            "values": draw(fixed.get("values", VALUES)),
            "seed": draw(st.integers(0, 2**16)),
            "calls": 1 if "must_raise" in fixed else draw(st.integers(1, 2)),
            "splits": draw(fixed["splits"](size)) if "splits" in fixed else None,
            "without": fixed.get("without", ""),
            "must_raise": draw(fixed.get("must_raise", st.just(""))),
            "topology": draw(fixed.get("topology", st.just("laptop"))),
            "schedule": None if "topology" in fixed else draw(st.none() | st.integers(0, 2**16)),
        }
        return Collective(function, world_size, **drawn)

    return draw_example()


# The first is what a failure is shown with, if it can be.
VALUES = st.sampled_from(["counting", "random", "random", "random"])
PLAIN_DTYPES = st.sampled_from([torch.float32, torch.int64])
ODD_LAYOUTS = st.sampled_from(LAYOUTS[1:])


def edges(world_size: int) -> list[tuple[int, ...]]:
    """Shapes at the edges: none, fewer elements than ranks, not divisible, no dimension, three dimensions."""
    n = world_size
    shapes = [(), (0,), (1,), (n + 1,), (2 * n + 1,), (max(1, n - 1),), (0, 3), (2, 0), (3, n + 2), (1, 2, 3)]
    return list(dict.fromkeys(shapes))


def uneven_splits(size: int) -> st.SearchStrategy[tuple[tuple[int, ...], ...]]:
    """Rows from each member to each, none included."""
    row = st.tuples(*[st.integers(0, 3)] * size)
    return st.tuples(*[row] * size)


def equal_inputs(size: int) -> st.SearchStrategy[tuple[tuple[int, ...], ...]]:
    """Rows from each member to each: each sends as many to all, and other numbers than the others."""
    return st.permutations(range(1, size + 1)).map(lambda sent: tuple((rows,) * size for rows in sent))


def equal_outputs(size: int) -> st.SearchStrategy[tuple[tuple[int, ...], ...]]:
    """Rows from each member to each: each is sent as many by all, and other numbers than the others."""
    return st.permutations(range(1, size + 1)).map(lambda received: (tuple(received),) * size)
