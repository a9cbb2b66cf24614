"""Speed of the simulated cluster, in real time. Run it on an idle machine.

Prints microseconds an operation at 8 ranks (a ring all-reduce: isend, recv and two waits a step) and the seconds that a
ring all-reduce on 64 ranks takes, ranks forked already. What is aimed at: 100 microseconds on 2 cores, 3 seconds.
"""

import sys
import time
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent.parent / "simulator"), str(Path(__file__).parent.parent.parent)]

import algorithms  # noqa: E402
from warm_ranks import Ranks  # noqa: E402

STEP = 4  # operations a rank and step: isend, recv, its wait, the isend's wait


def seconds(ranks: Ranks, n: int, repeats: int) -> float:
    """The best of a few ring all-reduces."""
    best = float("inf")
    for _ in range(repeats):
        begin = time.perf_counter()
        outcome = ranks.run(algorithms.ring_all_reduce, 64 * n)
        best = min(best, time.perf_counter() - begin)
        assert outcome.verdict is None, str(outcome.verdict)
    return best


def main() -> None:
    with Ranks(8) as ranks:
        spent = seconds(ranks, 8, 20)
    operations = 8 * 2 * 7 * STEP
    print(
        f"sim: {spent / operations * 1e6:.0f} us an operation at 8 ranks "
        f"({operations} operations in {spent * 1e3:.1f} ms)"
    )
    begin = time.perf_counter()
    with Ranks(64, "pod") as ranks:
        forked = time.perf_counter() - begin
        spent = seconds(ranks, 64, 2)
    print(f"simulator: ring all-reduce on 64 ranks in {spent:.2f} s (forked in {forked:.2f} s)")


if __name__ == "__main__":
    main()
