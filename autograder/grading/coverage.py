"""Which kinds of examples a check tries at which world size, where it has kinds that must not be left to chance.

A mistake that shows in one dtype under one operation is met by one drawn example in forty: by luck, that is. A check
with kinds names them, and every kind is tried in every grading.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Sequence


def shares(kinds: int, count: int, world_size: int, world_sizes: Sequence[int], seed: int) -> Counter[int]:
    """How many examples of each kind are drawn at a world size: `count` in all, or more if else one went untried.

    The kinds are dealt out in an order that the seed says, from another one on at each world size. Alone, a rank has
    nobody to be wrong about: what is tried there counts for nothing here.
    """
    order = random.Random(seed).sample(range(kinds), kinds)
    several = [n for n in world_sizes if n > 1] or [*world_sizes]
    least = math.ceil(kinds / len(several))
    alone = world_size not in several
    first = 0 if alone else several.index(world_size) * least
    return Counter(order[(first + turn) % kinds] for turn in range(count if alone else max(count, least)))
