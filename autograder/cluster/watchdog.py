"""Sees that an example will never end, by progress and not by the clock on the wall.

A rank makes progress when it begins or ends an operation, or uses processor time. On a loaded machine a rank waits for
a processor; it does not sleep then, and its time does not run.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import msgspec

from autograder.cluster.outcome import End
from autograder.protocol.limits import Limits
from autograder.protocol.status_board import WAITING, RankActivity

# Ranks that wait for one that has already failed need no second chance.
AFTER_FAILURE = 0.25
# Processor seconds a second that a rank uses while it waits: its libraries' own threads look around now and then.
IDLE_CPU = 0.02
# Seconds between two samples of ranks that are seen to make progress: a sample of many ranks takes its time from them.
SAMPLE_SECONDS = 1.0


class Sample(msgspec.Struct, frozen=True):
    """The zygote's word on one rank."""

    end: int | None
    cpu: float
    asleep: bool
    orphans: int = 0


class Watchdog:
    """Follows one example over successive samples."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._began = self._since = self._sampled = self._looked = time.monotonic()
        self._asleep = 0.0
        self._progress: tuple[int, ...] | None = None
        self._cpu = 0.0
        self._first_cpu: list[float] | None = None

    def look(
        self,
        activities: list[RankActivity],
        sample: Callable[[], list[Sample]],
        pending: set[int],
        failed: bool,
        quiet: bool = True,
    ) -> dict[int, End]:
        """How the pending ranks end, if this example is beyond hope, else nothing.

        `failed` says that another rank has already failed: the pending ones get little time to finish. `quiet` says
        that no rank has wanted anything of the grader since the last look: else they may be waiting for the grader.
        """
        now = time.monotonic()
        if now - self._began > self._limits.example_seconds:
            return dict.fromkeys(pending, End.STUCK)
        progress = tuple(activities[rank].progress for rank in sorted(pending))
        if progress != self._progress and now - self._sampled < SAMPLE_SECONDS:
            self._progress, self._since = progress, now
            return {}
        self._sampled = now
        samples = sample()
        if self._first_cpu is None:
            self._first_cpu = [sample.cpu for sample in samples]
        if samples[0].orphans > self._limits.processes:
            return dict.fromkeys(pending, End.EXCEEDED)
        busy = {r for r in pending if samples[r].cpu - self._first_cpu[r] > self._limits.cpu_seconds}
        if busy:
            return {rank: End.BUSY if rank in busy else End.STUCK for rank in pending}
        cpu = sum(samples[rank].cpu for rank in pending)
        idle = cpu - self._cpu <= IDLE_CPU * len(pending) * max(1.0, now - self._since)
        asleep = idle and all(samples[rank].asleep for rank in pending)
        self._asleep += now - self._looked if asleep and quiet else 0.0
        self._looked = now
        if self._asleep > self._limits.sleep_seconds:
            return dict.fromkeys(pending, End.STUCK)
        if progress != self._progress or not asleep:
            self._progress, self._cpu, self._since = progress, cpu, now
            return {}
        return (
            dict.fromkeys(pending, End.STUCK) if now - self._since > self._patience(activities, pending, failed) else {}
        )

    def _patience(self, activities: list[RankActivity], pending: set[int], failed: bool) -> float:
        """Seconds without progress that are enough: few if all wait in operations, more if one is asleep elsewhere."""
        if all(activities[rank].state == WAITING for rank in pending):
            return AFTER_FAILURE if failed else self._limits.stall_seconds
        return self._limits.idle_seconds
