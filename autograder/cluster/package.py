"""Finds a submission's modules and functions inside a rank, and cuts tracebacks down to the submission's own lines."""

from __future__ import annotations

import importlib
import sys
import traceback
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

from autograder.protocol.operation import SourceLine
from autograder.protocol.reply import Raised

NAME = "handout"
TEXT_LIMIT = 4000


class Missing(Exception):
    """The submission has no such module or function."""


class Unimportable(Exception):
    """A module of the submission raised when it was imported; `__cause__` is what it raised."""


class Package:
    """A submission's folder as the package `handout`, so that `from .x import y` and `from handout.x import y` work.

    The folder goes to the end of sys.path as well: `import helpers` works, and a numpy.py beside the modules stays a
    file that nobody asks for.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        package = types.ModuleType(NAME)
        package.__path__ = [str(folder)]
        sys.modules[NAME] = package
        sys.path.append(str(folder))
        self._failed: dict[str, BaseException] = {}

    def function(self, module: str, name: str) -> Callable[..., Any]:
        """The submission's function or class; raises Missing or Unimportable."""
        found: Callable[..., Any] | None = getattr(self._module(module), name, None)
        if not callable(found):
            raise Missing(f"{module}.py defines no {name}")
        function: Callable[..., Any] = found
        return function

    def _module(self, name: str) -> types.ModuleType:
        if not (self.folder / f"{name}.py").is_file():
            raise Missing(f"there is no {name}.py")
        if name not in self._failed:
            try:
                return importlib.import_module(f"{NAME}.{name}")
            except BaseException as error:
                self._failed[name] = error
        raise Unimportable from self._failed[name]

    def raised(self, error: BaseException) -> Raised:
        """The exception as the student should see it: their own lines only, the line that went wrong last."""
        lines = [self._line(frame) for frame in traceback.extract_tb(error.__traceback__) if self._owns(frame.filename)]
        if isinstance(error, SyntaxError) and error.filename and self._owns(error.filename):
            lines.append(SourceLine(self._short(error.filename), error.lineno or 0, "", (error.text or "").strip()))
        return Raised(type(error).__name__, _text(error), tuple(lines[-12:]))

    def _line(self, frame: traceback.FrameSummary) -> SourceLine:
        return SourceLine(self._short(frame.filename), frame.lineno or 0, frame.name, (frame.line or "").strip()[:200])

    def _owns(self, file: str) -> bool:
        return file.startswith(f"{self.folder}/")

    def _short(self, file: str) -> str:
        return file.removeprefix(f"{self.folder}/")


def _text(error: BaseException) -> str:
    """What the exception says; a student's own `__str__` may fail, or never end its line."""
    try:
        text = error.msg if isinstance(error, SyntaxError) else str(error)
    except Exception:
        text = "(its text could not be shown)"
    return text.partition("\nException raised from ")[0][:TEXT_LIMIT]


def is_stub(error: BaseException) -> bool:
    """Whether a line of the handout raised it to say that nothing is there yet, not torch, which raises the same."""
    if not isinstance(error, NotImplementedError):
        return False
    frames = traceback.extract_tb(error.__traceback__)
    return bool(frames) and "NotImplementedError" in (frames[-1].line or "")
