"""Hints that lead to the cause of a wrong result: the first explanation that fits what came back."""

from __future__ import annotations

from collections.abc import Iterator


def first_hint(*looks: Iterator[str]) -> tuple[str, ...]:
    """The first hint that any of these looks gives, in their order; none if nothing fits. Later looks are not taken."""
    for look in looks:
        for hint in look:
            return (hint,)
    return ()
