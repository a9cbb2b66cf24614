"""One rank of `python -m autograder run`: a process that runs the script as __main__ on the simulated cluster."""

from __future__ import annotations

import os
import runpy
import signal
import socket
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

import torch
import torch.distributed as dist
import torch.distributed.distributed_c10d as c10d
from torch._C._distributed_c10d import HashStore

from autograder.fabric import callsite
from autograder.simulator import rank_side
from autograder.simulator.endpoint import SimulationError
from autograder.system.process import die_with_parent


def main(
    script: str, args: Sequence[str], rank: int, world_size: int, connection: socket.socket, output: int
) -> NoReturn:
    """Runs the script in this process and ends it. Exit status 1 if the script raised, 3 after a verdict."""
    _separate(output)
    folder = str(Path(script).resolve().parent)
    os.environ.update(
        RANK=str(rank),
        LOCAL_RANK=str(rank),
        WORLD_SIZE=str(world_size),
        LOCAL_WORLD_SIZE=str(world_size),
        MASTER_ADDR="localhost",
        MASTER_PORT="0",
    )
    callsite.configure([folder])
    rank_side.install(connection, rank, world_size)
    _redirect(rank, world_size)
    rank_side.begin()
    sys.argv, sys.path[0] = [script, *args], folder
    os._exit(_run(script))


def _run(script: str) -> int:
    """The exit status of the script."""
    status, how = 0, ""
    try:
        runpy.run_path(script, run_name="__main__")
    except SystemExit as leaving:
        status = leaving.code if isinstance(leaving.code, int) else int(leaving.code is not None)
        how = f"left with exit status {status}" if status else ""
    except SimulationError:
        status = 3
    except BaseException as error:
        traceback.print_exc()
        status, how = 1, f"raised {type(error).__name__}: {error}"
    try:
        rank_side.finish(how)
    except SimulationError:
        status = status or 3
    sys.stdout.flush()
    sys.stderr.flush()
    return status


def _separate(output: int) -> None:
    """A process group of its own, so that all of it can be killed; output into the pipe."""
    os.setpgid(0, 0)
    die_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    os.dup2(output, 1)
    os.dup2(output, 2)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    sys.stdout = open(1, "w", buffering=1, closefd=False)
    sys.stderr = open(2, "w", buffering=1, closefd=False)
    torch.set_num_threads(1)


def _redirect(rank: int, world_size: int) -> None:
    """Gives the simulated backend to whoever asks for any."""
    init_process_group, new_group = dist.init_process_group, dist.new_group

    def init(backend: Any = None, *args: Any, **kwargs: Any) -> None:
        store = HashStore()
        init_process_group("sim", store=store, rank=rank, world_size=world_size)

    def new(ranks: Any = None, timeout: Any = None, backend: Any = None, *args: Any, **kwargs: Any) -> Any:
        return new_group(ranks, timeout, None, *args, **kwargs)

    dist.init_process_group = c10d.init_process_group = init
    dist.new_group = c10d.new_group = new
