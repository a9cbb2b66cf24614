"""Joins a process to the simulated cluster.

connect(socket, rank, world_size)     once a process, before anything else
create_group(options)                 a process group, for dist.Backend.register_backend(..., extended_api=True)
begin() ... finish()                  around each example
"""

from __future__ import annotations

import socket
from typing import Any

import torch.distributed as dist

from autograder.simulator import clock as clocks
from autograder.simulator import future
from autograder.simulator.backend import SimGroup
from autograder.simulator.clock import Clock
from autograder.simulator.endpoint import Endpoint

_endpoint: Endpoint | None = None


def connect(connection: socket.socket, rank: int, world_size: int) -> None:
    """Makes this process a rank of the simulated cluster behind `connection`; Python's clocks become virtual."""
    global _endpoint
    _endpoint = Endpoint(connection, rank, world_size)
    clocks.install(_endpoint.clock)
    future.install()


def install(connection: socket.socket, rank: int, world_size: int) -> None:
    """`connect`, and the backend "sim" registered with torch."""
    connect(connection, rank, world_size)
    dist.Backend.register_backend("sim", create_group, extended_api=True, devices=["cpu"])


def create_group(options: Any, _: Any = None) -> SimGroup:
    """The process group that torch asks a backend's creator for. Nothing is exchanged: the store is not used."""
    ranks = options.global_ranks_in_group or range(options.group_size)
    return SimGroup(_this(), options.group_id, ranks)


def clock() -> Clock:
    """This rank's virtual clock."""
    return _this().clock


def is_simulated() -> bool:
    """Whether this process is a rank of the simulated cluster."""
    return _endpoint is not None


def begin() -> None:
    """A new example begins on this rank: its clock is at zero."""
    _this().begin()


def finish(how: str = "") -> None:
    """This rank's part of the example is over; `how`, if it did not return, as in "rank 2 raised ValueError"."""
    _this().finish(how)


def _this() -> Endpoint:
    if _endpoint is None:
        raise RuntimeError("this process is no rank of a simulated cluster")
    return _endpoint
