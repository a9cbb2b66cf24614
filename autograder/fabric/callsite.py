"""Where in the student's code an operation comes from, and through which function of torch it was called."""

import os
import sys
import sysconfig
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from types import CodeType

import torch

_TORCH = os.path.dirname(os.path.abspath(torch.__file__)) + os.sep
_KIT = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_LIBRARIES = tuple({sysconfig.get_paths()[key] + os.sep for key in ("stdlib", "platstdlib", "purelib", "platlib")})
# Frames of torch that only pass a call on: their names mean nothing to a student.
_PASSED_ON = ("c10d_logger.py", "_contextlib.py", "_decorators.py", "typing_extensions.py")

_roots: tuple[str, ...] = ()


@dataclass(frozen=True)
class CallSite:
    """`api` is the function that the student called ("isend", "wait"); `file` is "" if no student's frame was found."""

    api: str
    file: str
    line: int
    function: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" if self.file else "an unknown line"


def configure(folders: Iterable[str | os.PathLike[str]]) -> None:
    """Call the files under these folders the student's. Without any, all files but torch's, Python's and the kit's are.

    Set once a process, before student code runs.
    """
    global _roots
    _roots = tuple(os.path.join(os.path.abspath(folder), "") for folder in folders)
    _is_students.cache_clear()


def locate(api: str = "") -> CallSite:
    """The innermost frame of student code below which the caller runs; a few microseconds.

    The name is that of the outermost torch function under that frame, which is what the student called; `api` is used
    where there is none, as for a method of a work handle.
    """
    frame = sys._getframe(1)
    while frame is not None:
        code = frame.f_code
        if _is_students(code.co_filename):
            return _site(api, code, frame.f_lineno)
        name = _torch_function(code)
        if name:
            api = name
        frame = frame.f_back
    return CallSite(api, "", 0, "")


def is_called_by_torch() -> bool:
    """Whether the caller's own code was entered from torch: the innermost frame outside of the kit is torch's."""
    frame = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(_KIT):
        frame = frame.f_back
    return frame is not None and frame.f_code.co_filename.startswith(_TORCH)


@lru_cache(maxsize=4096)
def _site(api: str, code: CodeType, line: int) -> CallSite:
    return CallSite(api, code.co_filename, line, code.co_qualname)


@lru_cache(maxsize=4096)
def _is_students(filename: str) -> bool:
    path = os.path.abspath(filename)
    if _roots:
        return path.startswith(_roots)
    is_generated = filename.startswith("<") and filename != "<string>"
    return not is_generated and not path.startswith((_TORCH, _KIT, *_LIBRARIES))


@lru_cache(maxsize=4096)
def _torch_function(code: CodeType) -> str:
    """The name of a torch function worth telling, or ""."""
    if not code.co_filename.startswith(_TORCH) or os.path.basename(code.co_filename) in _PASSED_ON:
        return ""
    return "" if code.co_name.startswith(("_", "<")) and code.co_name != "__init__" else code.co_qualname
