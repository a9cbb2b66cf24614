"""Joins a rank to its cluster: the recording layer over the backend asked for, as the default process group."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from datetime import timedelta
from typing import Any, cast

import torch
import torch.distributed as dist
import torch.distributed.distributed_c10d as c10d
from torch._C._distributed_c10d import Store

from autograder.fabric.recorder import Recorder
from autograder.fabric.recording import RecordingGroup

# Stalls are the grader's business, seen from outside; the libraries' own timers must never fire first.
PATIENCE = timedelta(days=1)
DEVICES = {"gloo": "cpu", "nccl": "cuda", "sim": "cpu"}


def join(
    backend: str,
    store: Store,
    rank: int,
    world_size: int,
    recorder: Recorder,
    simulated: Callable[[Any], dist.ProcessGroup],
) -> torch.device:
    """Makes the default group of this rank and returns the device that its tensors live on.

    `simulated` makes the process groups of the backend "sim" from torch's options.
    """
    device = torch.device(DEVICES[backend], rank) if backend == "nccl" else torch.device("cpu")
    if backend == "nccl":
        torch.cuda.set_device(device)

    def create(options: Any, _: Any) -> RecordingGroup:
        inner = simulated(options) if backend == "sim" else _library_group(backend, options, device)
        ranks = options.global_ranks_in_group or range(world_size)
        return RecordingGroup(inner, ranks, recorder, at_the_wait=backend == "sim")

    dist.Backend.register_backend("recorded", create, extended_api=True, devices=[device.type])
    dist.init_process_group("recorded", store=store, rank=rank, world_size=world_size, timeout=PATIENCE)
    if backend == "nccl":
        dist.batch_isend_irecv = c10d.batch_isend_irecv = batch_isend_irecv
    return device


def _library_group(backend: str, options: Any, device: torch.device) -> dist.ProcessGroup:
    """The process group that moves the bytes."""
    rank, size = options.group_rank, options.group_size
    library: dist.ProcessGroupNCCL | dist.ProcessGroupGloo
    if backend == "nccl":
        settings = dist.ProcessGroupNCCL.Options()
        settings._timeout = PATIENCE
        library, kind = dist.ProcessGroupNCCL(options.store, rank, size, settings), dist.ProcessGroup.BackendType.NCCL
    else:
        library, kind = _gloo(options.store, rank, size), dist.ProcessGroup.BackendType.GLOO
    library._set_sequence_number_for_group()
    group = dist.ProcessGroup(options.store, rank, size)
    group._set_default_backend(kind)
    group._register_backend(torch.device(device.type), kind, library)
    group._set_group_name(c10d.GroupName(f"library-{options.group_id}"))
    return group


def _gloo(store: Store, rank: int, size: int) -> dist.ProcessGroupGloo:
    library: Any = dist.ProcessGroupGloo  # torch's stub has neither its own options nor the constructor that takes them
    settings = library._Options()
    settings._timeout, settings._devices = PATIENCE, [_gloo_device()]
    return cast(dist.ProcessGroupGloo, library(store, rank, size, settings))


@functools.cache
def _gloo_device() -> dist.ProcessGroupGloo.Device:
    """One device for all groups of this rank: each has a thread that wakes a hundred times a second, idle or not."""
    interface = os.environ.get("GLOO_SOCKET_IFNAME")
    library = dist.ProcessGroupGloo
    return library.create_device(interface=interface) if interface else library.create_default_device()


def batch_isend_irecv(p2p_op_list: list[dist.P2POp]) -> list[dist.Work]:
    """torch's batch_isend_irecv for recorded NCCL groups: one NCCL group call, or opposing sends would deadlock.

    torch itself groups only for its own ProcessGroup class and would issue ours one by one.
    """
    c10d._check_p2p_op_list(p2p_op_list)
    group = p2p_op_list[0].group or c10d._get_default_group()
    calls = [
        lambda op=op: op.op(op.tensor, group=op.group, tag=op.tag, **{_peer_keyword(op): op.group_peer})
        for op in p2p_op_list
    ]
    assert isinstance(group, RecordingGroup), "join has made the default group, and torch makes all others the same way"
    return group.batch(calls, p2p_op_list[0].tensor.device)


def _peer_keyword(op: dist.P2POp) -> str:
    return "group_dst" if op.op is dist.isend else "group_src"
