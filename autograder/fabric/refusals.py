"""Refuses classes and functions of torch that would do a problem's work, whenever they are called in its examples."""

from __future__ import annotations

import functools
import importlib.abc
import importlib.machinery
import sys
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

import torch

from autograder.fabric.recorder import Recorder


class Refusals(importlib.abc.MetaPathFinder):
    """What a rank's present example refuses, by dotted name ("torch.nn.parallel.DistributedDataParallel").

    A class is guarded at its constructor, which subclasses call as well, and a function of autograd at its forward. A
    module that nobody has imported yet is guarded when somebody does: importing all of torch's parallel wrappers in
    advance would cost seconds.
    """

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._guarded: set[str] = set()
        self._refused: frozenset[str] = frozenset()
        sys.meta_path.insert(0, self)

    def begin(self, names: Sequence[str]) -> None:
        """From here on these are refused, and no others."""
        self._refused = frozenset(names)
        for module in {name.rpartition(".")[0] for name in names} & sys.modules.keys():
            self._guard_module(sys.modules[module])

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        """Has a module that something is refused of guarded as soon as its code has run; leaves all others alone."""
        if not any(name.rpartition(".")[0] == fullname for name in self._refused):
            return None
        spec = importlib.machinery.PathFinder.find_spec(fullname, path, target)
        if spec is not None and spec.loader is not None:
            run = spec.loader.exec_module

            def exec_module(module: ModuleType) -> None:
                run(module)
                self._guard_module(module)

            spec.loader.exec_module = exec_module  # type: ignore[method-assign]  # meant so
        return spec

    def _guard_module(self, module: ModuleType) -> None:
        for name in sorted(self._refused - self._guarded):
            owner, _, attribute = name.rpartition(".")
            thing = getattr(module, attribute, None)
            if owner != module.__name__ or thing is None:
                continue
            self._guarded.add(name)
            if isinstance(thing, type) and issubclass(thing, torch.autograd.Function):
                thing.forward = staticmethod(self._guard(thing.forward, name))  # type: ignore[method-assign]  # meant so
            elif isinstance(thing, type):
                thing.__init__ = self._guard(thing.__init__, name)  # type: ignore[misc]  # meant so
            else:
                setattr(module, attribute, self._guard(thing, name))

    def _guard(self, function: Callable[..., Any], name: str) -> Callable[..., Any]:
        @functools.wraps(function)
        def guarded(*args: Any, **kwargs: Any) -> Any:
            if name in self._refused:
                raise self._recorder.refuse(
                    f"{name} is not allowed in this problem: it does the work that you are asked to do"
                )
            return function(*args, **kwargs)

        del guarded.__wrapped__  # the way around
        return guarded
