"""Adversarial schedules: legal delays that change who is first.

Each message is seen by its receiver some time after it was posted, never overtaking an earlier one on its way from the
same rank to the same rank. Each rank goes on some time after the receive or collective that it waited for is done. Both
are virtual seconds, taken in turn from lists that wrap around, so that hypothesis can draw them and shrink them towards
none.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Delays:
    """`messages` and `wakes`: seconds, taken in turn; empty: none."""

    messages: Sequence[float] = ()
    wakes: Sequence[float] = ()

    def message(self, rank: int, count: int) -> float:
        """The delay of a rank's message number `count`."""
        return _pick(self.messages, rank, count)

    def wake(self, rank: int, count: int) -> float:
        """The delay after a rank's wait number `count`."""
        return _pick(self.wakes, rank, count)


NONE = Delays()


def drawn(seed: int, longest: float) -> Delays:
    """Delays up to `longest` seconds, the same for the same seed."""
    source = random.Random(seed)
    return Delays(
        tuple(source.choice((0.0, source.random() * longest)) for _ in range(97)),
        tuple(source.choice((0.0, source.random() * longest)) for _ in range(89)),
    )


def _pick(seconds: Sequence[float], rank: int, count: int) -> float:
    return seconds[(7 * rank + count) % len(seconds)] if seconds else 0.0
