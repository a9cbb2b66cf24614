"""What problem 2's numbers are: nccl-tests' factors, the least-squares line, and the exact time of a scripted call."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from autograder.simulator import topology

# nccl-tests, doc/PERFORMANCE.md: how often the size passes through the busiest rank's link, one way. A collective in
# which a rank keeps its own part moves the parts of the n-1 others; all_reduce does so twice.
COLLECTIVES_OF_PARTS = ("all_gather", "reduce_scatter", "all_to_all", "gather", "scatter")
FACTORS: dict[str, Callable[[int], float]] = {
    "all_reduce": lambda n: 2 * FACTORS["reduce_scatter"](n),
    **dict.fromkeys(COLLECTIVES_OF_PARTS, lambda n: 1 - 1 / n),
    **dict.fromkeys(("broadcast", "reduce", "send_recv"), lambda n: 1.0),
}
WITHIN = 0.01  # of the true time is right, for what measures it
TOPOLOGY = "laptop"
LINK = topology.load(TOPOLOGY).link(0, 1)


def close(got: float, expected: float, tolerance: float = 1e-9) -> bool:
    """Equal up to a relative tolerance; never for NaN."""
    return abs(got - expected) <= tolerance * abs(expected)


def simulated_seconds(collective: str, nbytes: float, n: int) -> float:
    """What torch's collective takes on the simulated cluster, on n ranks that call it at the same moment.

    `nbytes` is the size as nccl-tests counts it. Source of the formulas: autograder/simulator/collectives.py.
    """
    if collective == "broadcast":
        return (n - 1).bit_length() * (LINK.latency + LINK.seconds(nbytes))
    steps = 2 * (n - 1) if collective == "all_reduce" else n - 1
    return steps * LINK.latency + LINK.seconds(FACTORS[collective](n) * nbytes)


def line(sizes: Sequence[float], seconds: Sequence[float]) -> tuple[float, float]:
    """Latency and bandwidth of the line with the least sum of squared relative errors, by the normal equations.

    In units of the largest size and time, where the equations are well-conditioned enough for float64.
    """
    size, time = np.asarray(sizes) / max(sizes), np.asarray(seconds) / max(seconds)
    equations = np.stack([1 / time, size / time], axis=1)
    latency, slope = np.linalg.solve(equations.T @ equations, equations.T @ np.ones(len(time)))
    return float(latency * max(seconds)), float(max(sizes) / (slope * max(seconds)))


def used_bytes(collective: str, requested: int, itemsize: int, n: int) -> int:
    """The size of the tensors for `requested` bytes: whole elements on every rank, at least one."""
    unit = itemsize * (1 if collective in ("all_reduce", "broadcast") else n)
    return max(requested // unit, 1) * unit
