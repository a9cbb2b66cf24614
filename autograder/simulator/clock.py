"""A rank's virtual clock.

The clock stands still while Python runs. It moves when the rank waits for an operation (to the moment at which that is
done), sleeps, spends compute time (`spend`: a layer that takes so long), or synchronises with its device.

A device works beside the rank, as a GPU does: `launch(seconds)` queues work on a stream and returns at once, at no
cost; the work starts when the stream is done with what was queued before, or now if it is idle. `synchronize` moves the
clock to the end of all work queued (or of one stream's). So a function that launches work and returns looks free to
whoever reads the clock without synchronising.

`install` makes Python's clocks follow: time.time, monotonic, perf_counter, clock_gettime of those and their _ns forms,
timeit.default_timer, and sleep; and the synchronize functions of torch's devices. The clocks count from 1 second, so
that a reading is never 0. Processor time (time.process_time, thread_time) stands still, as it does for whoever waits or
sleeps.
"""

import math
import time
import timeit
from collections.abc import Callable
from types import SimpleNamespace
from typing import SupportsIndex, TypeVar

import torch

# Python's own clocks, for whoever needs real time after `install`.
real = SimpleNamespace(
    time=time.time, monotonic=time.monotonic, perf_counter=time.perf_counter, sleep=time.sleep, time_ns=time.time_ns
)
START = 1.0
Reading = TypeVar("Reading", int, float)


class Clock:
    """Virtual seconds of one rank: `now` since the example began.

    Python's clocks show `ahead` seconds more, as those of another machine would.
    """

    def __init__(self) -> None:
        self.now = self.ahead = 0.0
        self._streams: dict[str, float] = {}

    def reset(self) -> None:
        """Back to zero, with an idle device; all ranks' clocks agree."""
        self.now = self.ahead = 0.0
        self._streams.clear()

    def spend(self, seconds: float | SupportsIndex) -> None:
        """The rank is busy for `seconds`. Raises ValueError if that is negative or no number."""
        self.now += _checked(seconds)

    def move_to(self, moment: float) -> None:
        """Waits until `moment`, if that is not over."""
        self.now = max(self.now, moment)

    def launch(self, seconds: float, stream: str = "default") -> None:
        """Queues `seconds` of work on a stream of the device and returns at once."""
        self._streams[stream] = max(self.now, self._streams.get(stream, 0.0)) + _checked(seconds)

    def synchronize(self, stream: str | None = None) -> None:
        """Waits for all work queued on the device, or on one stream of it."""
        ends = self._streams.values() if stream is None else [self._streams.get(stream, 0.0)]
        self.move_to(max(ends, default=0.0))

    def read(self) -> float:
        """What Python's clocks show."""
        return START + self.ahead + self.now

    def read_ns(self) -> int:
        """The same in whole nanoseconds."""
        return round(self.read() * 1e9)


def install(clock: Clock) -> None:
    """Makes the clocks of this process follow `clock`, for good."""
    time.time = time.monotonic = time.perf_counter = timeit.default_timer = clock.read
    time.time_ns = time.monotonic_ns = time.perf_counter_ns = clock.read_ns
    time.process_time = time.thread_time = lambda: START
    time.process_time_ns = time.thread_time_ns = lambda: round(START * 1e9)
    time.clock_gettime = _follows(clock.read, time.clock_gettime)
    time.clock_gettime_ns = _follows(clock.read_ns, time.clock_gettime_ns)
    time.sleep = clock.spend

    def synchronize(device: object = None) -> None:
        clock.synchronize()

    torch.cuda.synchronize = torch.cpu.synchronize = torch.accelerator.synchronize = synchronize


def _follows(read: Callable[[], Reading], original: Callable[[int], Reading]) -> Callable[[int], Reading]:
    """clock_gettime, for all of the system's clocks but those of processor time."""
    processors = {getattr(time, f"CLOCK_{name}_CPUTIME_ID", None) for name in ("PROCESS", "THREAD")}
    return lambda clk_id: original(clk_id) if clk_id in processors else read()


def _checked(seconds: float | SupportsIndex) -> float:
    if not (math.isfinite(seconds) and float(seconds) >= 0):
        raise ValueError("sleep length must be non-negative")
    return float(seconds)
