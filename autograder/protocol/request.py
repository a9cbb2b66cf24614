"""What the grader asks of a rank: one example."""

from __future__ import annotations

from typing import Any

import msgspec


class Request(msgspec.Struct, frozen=True):
    """One example for one rank: which driver function to run on which module, and its arguments in JSON.

    `allowed` and `refused` are the problem's, as in assignment.toml.
    """

    problem: str
    driver: str
    arguments: dict[str, Any]
    allowed: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
