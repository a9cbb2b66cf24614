"""Warm simulated ranks for tests: forked once, given any number of functions to run."""

import os
import pickle
import selectors
import signal
import socket
import struct
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
import torch.distributed as dist

from autograder.simulator import rank_side, topology
from autograder.simulator.delays import NONE, Delays
from autograder.simulator.endpoint import SimulationError
from autograder.simulator.rank_report import RankReport
from autograder.simulator.switch import Switch
from autograder.simulator.verdict import Verdict
from autograder.system.process import die_with_parent

torch.set_num_threads(1)
os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo0" if sys.platform == "darwin" else "lo")
LENGTH = struct.Struct("<Q")


@dataclass
class Outcome:
    """What came of one example: the verdict, each rank's result (or the exception that it raised), and the report."""

    verdict: Verdict | None
    results: list[Any]
    reports: list[RankReport]
    trace: str

    @property
    def seconds(self) -> float:
        """Virtual time of the slowest rank."""
        return max(report.seconds for report in self.reports)


class Ranks:
    """`world_size` ranks on a topology. Functions are called as f(rank, world_size, *args) in each of them.

    With `gloo`, a folder for the rendezvous, the ranks are real ones: there are results then, but no verdicts.
    """

    def __init__(self, world_size: int, name: str = "laptop", gloo: str | None = None) -> None:
        self.world_size = world_size
        self.switch = Switch(world_size, topology.load(name))
        self.controls: list[socket.socket] = []
        self.fabrics: list[socket.socket] = []
        self.pids: list[int] = []
        for rank in range(world_size):
            control, control_there = socket.socketpair()
            fabric, fabric_there = socket.socketpair()
            pid = os.fork()
            if pid == 0:
                for other in (control, fabric, *self.controls, *self.fabrics):
                    other.close()
                _serve(control_there, fabric_there, rank, world_size, gloo)
            control_there.close()
            fabric_there.close()
            self.controls.append(control)
            self.fabrics.append(fabric)
            self.pids.append(pid)
            if gloo is None:
                self.switch.attach(rank, fabric)
        self._is_gloo = gloo is not None

    def run(
        self,
        function: Callable,
        *args: Any,
        buffered: bool = False,
        seed: int | None = None,
        delays: Delays = NONE,
        zeroed_payloads: bool = False,
        traced: bool = False,
        on_death: Callable[[], Any] = lambda: None,
    ) -> Outcome:
        """Runs the function on all ranks; after a verdict these ranks are not to be used again."""
        self.switch.reset(buffered=buffered, seed=seed, delays=delays, zeroed_payloads=zeroed_payloads)
        call = pickle.dumps((function.__module__, function.__qualname__, args))
        for control in self.controls:
            control.sendall(LENGTH.pack(len(call)) + call)
        results: list[Any] = [None] * self.world_size
        with selectors.DefaultSelector() as selector:
            selector.register(self.switch, selectors.EVENT_READ)
            for rank, control in enumerate(self.controls):
                selector.register(control, selectors.EVENT_READ, rank)
            while len(selector.get_map()) > 1 or not (self._is_gloo or self.switch.over):
                for key, _ in selector.select():
                    if key.data is None:
                        self.switch.on_ready()
                        continue
                    selector.unregister(key.fileobj)
                    try:
                        results[key.data] = _receive(key.fileobj)
                    except EOFError:
                        _, status = os.waitpid(self.pids[key.data], 0)
                        self.pids[key.data] = 0
                        signalled = os.WIFSIGNALED(status) and signal.Signals(os.WTERMSIG(status)).name
                        results[key.data] = EOFError()
                        self.switch.died(key.data, f"was killed by {signalled}" if signalled else "left")
                        on_death()
        return Outcome(self.switch.verdict, results, self.switch.report(), self.switch.trace() if traced else "")

    def close(self) -> None:
        """Ends the ranks."""
        for pid in filter(None, self.pids):
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
        for end in (*self.controls, *self.fabrics):
            end.close()
        self.switch.detach()

    def __enter__(self) -> "Ranks":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def once(function: Callable, world_size: int, *args: Any, name: str = "laptop", **options: Any) -> Outcome:
    """Runs the function on ranks of its own."""
    with Ranks(world_size, name) as ranks:
        return ranks.run(function, *args, **options)


def _receive(connection: socket.socket) -> Any:
    (length,) = LENGTH.unpack(_exactly(connection, LENGTH.size))
    return pickle.loads(_exactly(connection, length))


def _exactly(connection: socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        more = connection.recv(size - len(data))
        if not more:
            raise EOFError
        data += more
    return data


def _serve(control: socket.socket, fabric: socket.socket, rank: int, world_size: int, gloo: str | None) -> None:
    """The rank's side: never returns."""
    die_with_parent()
    try:
        rank_side.install(fabric, rank, world_size)
        store = (
            dist.HashStore() if gloo is None else dist.FileStore(os.path.join(gloo, f"store-{world_size}"), world_size)
        )
        backend = "gloo" if gloo else "sim"
        dist.init_process_group(backend, store=store, rank=rank, world_size=world_size)
        while True:
            module, name, args = _receive(control)
            rank_side.begin()
            how = ""
            try:
                result = _function(module, name)(rank, world_size, *args)
            except SimulationError as error:
                result = error.args[0]
            except Exception as error:
                traceback.print_exc()
                result, how = error, f"raised {type(error).__name__}: {error}"
            if gloo is None:
                rank_side.finish(how)
            reply = pickle.dumps(result)
            control.sendall(LENGTH.pack(len(reply)) + reply)
    except EOFError:
        os._exit(0)
    except BaseException:
        traceback.print_exc()
        os._exit(1)


def _function(module: str, name: str) -> Callable:
    found: Any = sys.modules[module]
    for part in name.split("."):
        found = getattr(found, part)
    return found
