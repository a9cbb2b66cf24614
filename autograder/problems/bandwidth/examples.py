"""Examples of problem 2 that need no clock: figures to compute, lines to fit, tables to print."""

from __future__ import annotations

import dataclasses

import numpy as np
from hypothesis import strategies as st

from autograder.checks.example import Call, Description
from autograder.problems.bandwidth.expected import FACTORS
from autograder.problems.bandwidth.messages import FiguresArguments, FitArguments, TableArguments

WITHOUT_SIZE_ONE = ("broadcast", "reduce", "send_recv")  # on one rank nothing says what these would cost


@dataclasses.dataclass(frozen=True)
class Figures:
    """sent_bytes, or bandwidth, of every collective at one size and world size; or unknown names, to be refused."""

    function: str
    ranks: int
    size_bytes: int
    seconds: float = 1.0
    unknown: str = ""
    world_size: int = 1

    @property
    def collectives(self) -> list[str]:
        """Those to be computed."""
        return [] if self.unknown else [name for name in FACTORS if self.ranks > 1 or name not in WITHOUT_SIZE_ONE]

    @property
    def rest(self) -> list[int | float]:
        """The arguments of every call after the collective's name."""
        return [self.size_bytes, self.ranks, *([self.seconds] if self.function == "bandwidth" else [])]

    def call(self) -> Call:
        """One rank computes all of it."""
        refused = [self.unknown] if self.unknown else []
        return Call("figures", (FiguresArguments(self.function, self.collectives, refused, self.rest),), ({},))

    def spelled_out(self, collective: str) -> str:
        """One call in a student's words; `collective` as it stands in Python."""
        return f"{self.function}({', '.join([collective, *map(repr, self.rest)])})"

    def describe(self) -> Description:
        """The call in a student's words, whatever the collective."""
        call = self.spelled_out(repr(self.unknown) if self.unknown else "collective")
        return Description(call, f"{self.ranks} ranks", ("",))


@dataclasses.dataclass(frozen=True)
class Line:
    """Times of sizes: latency + size / bandwidth, each off by up to `noise` of itself."""

    latency: float
    bandwidth: float
    exponents: tuple[int, ...]
    noise: float = 0.0
    seed: int = 0
    world_size: int = 1

    @property
    def sizes(self) -> list[int]:
        """Bytes."""
        return [2**exponent for exponent in self.exponents]

    @property
    def seconds(self) -> list[float]:
        """What was measured for each size."""
        off = 1 + self.noise * np.random.default_rng(self.seed).uniform(-1, 1, len(self.exponents))
        return [float(o * (self.latency + size / self.bandwidth)) for o, size in zip(off, self.sizes, strict=True)]

    @property
    def unfit(self) -> list[tuple[list[int], list[float]]]:
        """With noise, sizes and seconds that no line can be fitted to."""
        sizes, seconds = self.sizes, self.seconds
        return [(sizes[:1] * 2, seconds[:2]), (sizes, seconds[1:]), (sizes[:1], seconds[:1])] if self.noise else []

    def call(self) -> Call:
        """The fit, and what is unfit for it."""
        return Call("fit", (FitArguments(self.sizes, self.seconds, self.unfit),), ({},))

    def describe(self) -> Description:
        """The call in a student's words."""
        pairs = ", ".join(f"{size} B {second:.6g} s" for size, second in zip(self.sizes, self.seconds, strict=True))
        how = f"each off by at most {self.noise:.0%}" if self.noise else "exactly on a line"
        return Description("fit_latency_bandwidth(sizes, seconds)", f"{len(self.sizes)} sizes, {how}", (pairs,))


@dataclasses.dataclass(frozen=True)
class Table:
    """Rows of a benchmark, to be printed: size in bytes, seconds, and factor of the bus bandwidth."""

    rows: tuple[tuple[int, float, float], ...]
    world_size: int = 1

    @property
    def measurements(self) -> list[tuple[int, float, float, float]]:
        """size_bytes, seconds, algbw, busbw."""
        return [(size, seconds, size / seconds, factor * size / seconds) for size, seconds, factor in self.rows]

    def call(self) -> Call:
        """One rank prints it."""
        return Call("table", (TableArguments(self.measurements),), ({},))

    def describe(self) -> Description:
        """The rows as a student would write them."""
        rows = "; ".join(f"{s} B, {t:.6g} s, algbw {a:.6g}, busbw {b:.6g} B/s" for s, t, a, b in self.measurements)
        return Description("format_table(rows)", f"{len(self.rows)} rows", (rows,))


RANKS = st.sampled_from([4, 3, 8, 2, 7, 1, 1024]) | st.integers(2, 5000)
SIZES = st.sampled_from([10, 1000, 1, 12345, 2**31, 10**12 + 1])


@st.composite
def figures(draw: st.DrawFn, function: str) -> Figures:
    """Any world size, sizes that it does not divide."""
    seconds = draw(st.sampled_from([1.0, 0.25, 1e-5, 3.0])) if function == "bandwidth" else 1.0
    return Figures(function, draw(RANKS), draw(SIZES), seconds)


@st.composite
def unknown(draw: st.DrawFn, function: str) -> Figures:
    """Names that no collective has."""
    return Figures(function, draw(RANKS), draw(SIZES), unknown=draw(st.sampled_from(["allreduce", "ring", "barrier"])))


@st.composite
def lines(draw: st.DrawFn, noise: float) -> Line:
    """From a laptop to a data centre."""
    many = st.sets(st.integers(3, 30), min_size=6, max_size=16)
    # Two sizes are enough for a line, where no noise hides it; far apart, so that every way to solve it stays exact.
    exponents = draw(many if noise else st.sampled_from([{10, 30}, {3, 28}, {20, 30}]) | many)
    return Line(
        latency=draw(st.sampled_from([1e-5, 2e-6, 1e-3])),
        bandwidth=draw(st.sampled_from([1e10, 4e11, 1e9])),
        exponents=tuple(sorted(exponents)),
        noise=noise,
        seed=draw(st.integers(0, 2**16)) if noise else 0,
    )


def tables() -> st.SearchStrategy[Table]:
    """From bytes to gigabytes, from slow to fast."""
    seconds = st.sampled_from([1.0, 1.23456e-6, 0.0123456, 6.5e-5])
    row = st.tuples(st.sampled_from([1000, 8, 4096, 2**30, 123456789]), seconds, st.sampled_from([1.0, 1.5, 0.75]))
    return st.lists(row, min_size=1, max_size=4).map(lambda rows: Table(tuple(rows)))
