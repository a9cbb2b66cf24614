"""What an example is: one drawn input of a check, what the ranks are asked, and what a student is shown of it."""

from __future__ import annotations

from typing import Any, Protocol

import msgspec
import torch

from autograder.cluster.simulated import SimulationConfig


class Call(msgspec.Struct, frozen=True):
    """What each rank is asked: the driver's function, its arguments in JSON and its tensors, all by rank.

    `config` is what it is simulated on, where it is.
    """

    driver: str
    arguments: tuple[dict[str, Any], ...]
    tensors: tuple[dict[str, torch.Tensor], ...]
    config: SimulationConfig = SimulationConfig()


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
