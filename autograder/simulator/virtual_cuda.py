"""A device called "cuda" where there is none: its tensors are on the CPU, its work is launched on the virtual clock.

For code that times a device on the simulated cluster. What such code asks of torch.cuda is there; kernels are not.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any
from unittest import mock

import torch
from torch.overrides import TorchFunctionMode


@contextlib.contextmanager
def virtual_cuda() -> Iterator[None]:
    """While this lasts, torch.cuda is available, has one device, and synchronises with the virtual clock."""
    stream = SimpleNamespace(synchronize=lambda: torch.cuda.synchronize())
    answers: dict[str, Any] = {
        "is_available": lambda: True,
        "is_initialized": lambda: True,
        "device_count": lambda: 1,
        "current_device": lambda: 0,
        "set_device": lambda device: None,
        "current_stream": lambda device=None: stream,
        "default_stream": lambda device=None: stream,
    }
    with mock.patch.multiple(torch.cuda, **answers), _OnTheCpu():
        yield


class _OnTheCpu(TorchFunctionMode):
    """Hands "cpu" to torch wherever it is handed a CUDA device."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func is torch.Tensor.cuda:
            return args[0]
        if func is torch.device:
            return func(*args, **(kwargs or {}))
        return func(*map(_moved, args), **{name: _moved(value) for name, value in (kwargs or {}).items()})


def _moved(argument: Any) -> Any:
    named = isinstance(argument, str) and argument.partition(":")[0] == "cuda"
    return torch.device("cpu") if named or getattr(argument, "type", None) == "cuda" else argument
