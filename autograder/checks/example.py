"""What an example is: one drawn input of a check, what the ranks are asked, and what a student is shown of it."""

from __future__ import annotations

from typing import Protocol

import msgspec
import torch

from autograder.cluster.simulated import SimulationConfig
from autograder.protocol.request import Request


class Call(msgspec.Struct, frozen=True):
    """What each rank is asked: a function of the problem's rank.py, its arguments and its tensors, all by rank.

    `config` is what it is simulated on, where it is.
    """

    function: str
    arguments: tuple[msgspec.Struct, ...]
    tensors: tuple[dict[str, torch.Tensor], ...]
    config: SimulationConfig = SimulationConfig()

    def requests(self, problem: str, allowed: tuple[str, ...] = (), refused: tuple[str, ...] = ()) -> list[Request]:
        """The same as messages, by rank."""
        raw = [msgspec.Raw(msgspec.json.encode(arguments)) for arguments in self.arguments]
        return [Request(problem, self.function, arguments, allowed, refused) for arguments in raw]


class Description(msgspec.Struct, frozen=True):
    """An example in words: the call as a student would write it, the setting, and what each rank is given."""

    call: str
    setting: str
    given: tuple[str, ...]


class Example(Protocol):
    """One drawn input of a check. Hashable, and equal to another exactly if it asks the ranks for the same."""

    world_size: int

    def call(self) -> Call:
        """What the ranks are given."""

    def describe(self) -> Description:
        """What a student is shown."""
