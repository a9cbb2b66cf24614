"""Examples of problem 2 that need a clock: a collective that lasts as long as a script says, and benchmarks.

On the simulated cluster, where time is virtual, the true result is known exactly.
"""

from __future__ import annotations

import dataclasses
from typing import TypedDict

import torch
from hypothesis import strategies as st

from autograder.checks.example import Call, Description
from autograder.checks.placement import Mesh, SideBySide
from autograder.checks.show import show_dtype
from autograder.problems.bandwidth.expected import simulated_seconds
from autograder.problems.bandwidth.messages import RowsArguments, TimingArguments
from autograder.problems.common.groups import MESHES

MILLI = 1e-3
# What is no collective of a benchmark: unknown, or known to `bandwidth` or `sent_bytes` alone.
NO_BENCHMARK = ("all_scatter", "gather", "send_recv")


@dataclasses.dataclass(frozen=True)
class Timing(SideBySide):
    """One time_collective. All times are seconds; tuples are by global rank.

    The fields are those of TimingArguments in messages.py, of all ranks: a rank is told its own times alone.
    """

    warmup: int = 5
    iterations: int = 20
    nbytes: int = 0
    own: tuple[float, ...] = ()
    factors: tuple[int, ...] = (1,)
    slow: int = 0
    extra: float = 0.0
    work: tuple[float, ...] = ()
    device: str = '"cuda"'
    late: tuple[float, ...] = ()
    apart: tuple[float, ...] = ()
    active: int = 2

    def measuring(self) -> list[int]:
        """The ranks that measure."""
        return sorted(rank for group in self.groups[: self.active] for rank in group)

    def truth(self, rank: int) -> float:
        """Mean seconds a call, of the slowest rank of this rank's group, to be told on the simulated cluster."""
        ranks = self.groups[self.place(rank)[0]]
        collective = simulated_seconds("all_reduce", self.nbytes, len(ranks)) if self.nbytes else 0.0
        host, device = dict.fromkeys(ranks, 0.0), dict.fromkeys(ranks, 0.0)
        for call in range(self.warmup, self.warmup + self.iterations):
            for r in ranks:
                host[r] += self._by_rank(self.own)[r] * self.factors[call % len(self.factors)]
                device[r] = max(host[r], device[r]) + self._by_rank(self.work)[r]
            if self.nbytes:  # nobody has the result before all have come
                host = dict.fromkeys(ranks, max(host.values()) + collective)
        return max(*host.values(), *device.values()) / self.iterations

    def _by_rank(self, times: tuple[float, ...]) -> tuple[float, ...]:
        return times or (0.0,) * self.world_size

    def call(self) -> Call:
        """Every rank has its own times."""
        arguments = tuple(self._asked(rank) for rank in range(self.world_size))
        return Call("timing", arguments, ({},) * self.world_size)

    def _asked(self, rank: int) -> TimingArguments:
        return TimingArguments(
            warmup=self.warmup,
            iterations=self.iterations,
            nbytes=self.nbytes,
            factors=self.factors,
            slow=self.slow,
            extra=self.extra,
            device=self.device,
            own=self._by_rank(self.own)[rank],
            work=self._by_rank(self.work)[rank],
            late=self._by_rank(self.late)[rank],
            apart=self._by_rank(self.apart)[rank],
            groups=self.mesh,
            active=self.active,
        )

    def describe(self) -> Description:
        """The call in a student's words, and what a call does on each rank."""
        device = f", device={self.device}" if self.work else ""
        group = ", group=group" if self.mesh else ""
        call = f"time_collective(call, warmup={self.warmup}, iterations={self.iterations}{device}{group})"
        setting = self.setting()
        if self.mesh and self.active == 1:
            setting.append(f"only {list(self.groups[0])} measure")
        if self.slow:
            setting.append(f"the first {self.slow} calls take {self.extra * 1e3:g} ms more")
        if len(self.factors) > 1:
            setting.append(f"calls take {self.factors} times as long in turn")
        return Description(call, ", ".join(setting), tuple(self._given(rank) for rank in range(self.world_size)))

    def _given(self, rank: int) -> str:
        if rank not in self.measuring():
            return "does not measure"
        parts = [f"{what} {times[rank] * 1e3:g} ms" for what, times in (("comes after", self.late),) if times]
        parts += [f"a call works {self.own[rank] * 1e3:g} ms"] if self.own else []
        parts += [f"a call queues {self.work[rank] * 1e3:g} ms of work on the device"] if self.work else []
        parts += [f"a call all-reduces {self.nbytes} bytes"] if self.nbytes else []
        parts += [f"after the last warm-up call: {self.apart[rank] * 1e3:g} ms"] if self.apart else []
        return ", ".join(parts)


@dataclasses.dataclass(frozen=True)
class Benchmark(SideBySide):
    """A benchmark of one of torch's collectives; `task` is the collective's name."""

    sizes: tuple[int, ...] = (1000,)
    dtype: torch.dtype = torch.float32
    warmup: int = 1
    iterations: int = 3
    active: int = 2

    def measuring(self) -> list[int]:
        """The ranks that measure."""
        return sorted(rank for group in self.groups[: self.active] for rank in group)

    def call(self) -> Call:
        """The same for every rank."""
        arguments = RowsArguments(
            collective=self.task,
            sizes=list(self.sizes),
            dtype=show_dtype(self.dtype),
            warmup=self.warmup,
            iterations=self.iterations,
            groups=self.mesh,
            active=self.active,
            refused=NO_BENCHMARK,
        )
        return Call("rows", (arguments,) * self.world_size, ({},) * self.world_size)

    def describe(self) -> Description:
        """The call in a student's words."""
        group = ", group=group" if self.mesh else ""
        options = f"dtype=torch.{show_dtype(self.dtype)}, warmup={self.warmup}, iterations={self.iterations}{group}"
        setting = self.setting()
        if self.mesh and self.active == 1:
            setting.append(f"only {list(self.groups[0])} measure")
        given = tuple("" if rank in self.measuring() else "does not measure" for rank in range(self.world_size))
        return Description(f"benchmark({self.task!r}, {list(self.sizes)}, {options})", ", ".join(setting), given)


class Counts(TypedDict):
    """How often a collective is called."""

    warmup: int
    iterations: int


def _counts(draw: st.DrawFn, iterations: st.SearchStrategy[int] | None = None) -> Counts:
    some = st.sampled_from([7, 20, 10, 3])
    return {"warmup": draw(st.integers(1, 6)), "iterations": draw(iterations if iterations is not None else some)}


def _different(draw: st.DrawFn, world_size: int, unit: float) -> tuple[float, ...]:
    """Another time on every rank, the slowest anywhere."""
    return tuple(unit * (rank + 1) for rank in draw(st.permutations(range(world_size))))


@st.composite
def steady(draw: st.DrawFn, world_size: int) -> Timing:
    """The same call again and again, or calls that differ, on ranks that do the same."""
    own = (draw(st.integers(4, 6)) * MILLI,) * world_size
    nbytes = draw(st.sampled_from([0, 1000]))
    if draw(st.booleans()):
        # So that mean, median and minimum differ; as many long ones among the warm-up calls as among the measured.
        counts: Counts = {"warmup": draw(st.sampled_from([3, 6])), "iterations": draw(st.sampled_from([6, 9]))}
        return Timing("", world_size, own=own, factors=(1, 1, 4), nbytes=nbytes, **counts)
    return Timing("", world_size, own=own, nbytes=nbytes, **_counts(draw))


@st.composite
def slow_first(draw: st.DrawFn, world_size: int) -> Timing:
    """First calls that take long, as many as there is warm-up for or fewer."""
    counts = _counts(draw)
    slow = draw(st.integers(1, counts["warmup"]))
    return Timing("", world_size, own=(5 * MILLI,) * world_size, slow=slow, extra=0.5, **counts)


# How code may name a CUDA device, in Python's words.
DEVICES = ('"cuda"', 'torch.device("cuda")', '"cuda:0"')


@st.composite
def asynchronous(draw: st.DrawFn, world_size: int, device: str) -> Timing:
    """A device that is busy long after the calls have returned, on some ranks perhaps longer than on others."""
    own = (1e-6,) * world_size
    if draw(st.booleans()):
        # A rank whose device has done the warm-up first is not to start first: it would measure the others' warm-up.
        work = _different(draw, world_size, 5 * MILLI)
        counts: Counts = {"warmup": 6, "iterations": draw(st.integers(1, 3))}
        return Timing("", world_size, own=own, work=work, device=device, nbytes=8, **counts)
    work = (draw(st.sampled_from([10, 3])) * MILLI,) * world_size
    return Timing("", world_size, own=own, work=work, device=device, **_counts(draw))


@st.composite
def unequal(draw: st.DrawFn, world_size: int) -> Timing:
    """One rank is slow. There is no warm-up, so that all start together."""
    return Timing("", world_size, own=_different(draw, world_size, 2 * MILLI), **_counts(draw) | {"warmup": 0})


@st.composite
def apart(draw: st.DrawFn, world_size: int) -> Timing:
    """Ranks that do not arrive together: they come late, or the last warm-up call leaves them apart."""
    times, own = _different(draw, world_size, 0.1), (5 * MILLI,) * world_size
    counts = _counts(draw)
    if draw(st.booleans()):
        return Timing("", world_size, own=own, nbytes=1000, apart=times, **counts)
    return Timing("", world_size, own=own, nbytes=1000, late=times, **counts | {"warmup": 0})


@st.composite
def short(draw: st.DrawFn, world_size: int) -> Timing:
    """A call that takes hardly longer than a barrier does."""
    return Timing("", world_size, nbytes=draw(st.sampled_from([8, 1000])), **_counts(draw, st.integers(1, 4)))


@st.composite
def grouped(draw: st.DrawFn, world_size: int) -> Timing:
    """Groups with different times side by side, or one group that measures alone."""
    own = _different(draw, world_size, MILLI)
    mesh, active = draw(st.sampled_from(MESHES[world_size])), draw(st.integers(1, 2))
    return Timing("", world_size, mesh, own=own, nbytes=1000, active=active, **_counts(draw))


COLLECTIVES = ("all_reduce", "broadcast", "all_gather", "reduce_scatter", "all_to_all")
DTYPES = (torch.float32, torch.float64, torch.uint8, torch.int64)


@st.composite
def benchmarks(draw: st.DrawFn, world_size: int) -> Benchmark:
    """Every collective and dtype; sizes that are no whole number of elements, too small for one, and large."""
    mesh: Mesh | None = draw(st.sampled_from(MESHES.get(world_size, (None,))))
    small, large = st.integers(1, 64), st.sampled_from([200_000, 100_003, 262_144])
    return Benchmark(
        draw(st.sampled_from(COLLECTIVES)),
        world_size,
        mesh,
        sizes=(draw(large), draw(small), draw(large)),
        dtype=draw(st.sampled_from(DTYPES)),
        active=draw(st.sampled_from([1, 1, 2])),  # with one, whoever takes the world for the group is blocked
    )
