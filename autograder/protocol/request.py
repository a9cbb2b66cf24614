"""What the grader asks of a rank: one example."""

from __future__ import annotations

import msgspec


class Request(msgspec.Struct, frozen=True):
    """One example for one rank: which function of the problem's rank.py to run, and its arguments: one of
    the problem's structs, in JSON.

    `allowed` and `refused` are the problem's, as in assignment.toml.
    """

    problem: str
    function: str
    arguments: msgspec.Raw
    allowed: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
