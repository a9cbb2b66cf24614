"""Where in the student's code an operation comes from, and through which function of torch it was called."""

import os
import sys
import sysconfig
from collections.abc import Iterable
from types import FrameType
from typing import NamedTuple

import torch

_TORCH = os.path.dirname(os.path.abspath(torch.__file__)) + os.sep
_KIT = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_LIBRARIES = tuple({sysconfig.get_paths()[key] + os.sep for key in ("stdlib", "platstdlib", "purelib", "platlib")})
# Files of torch whose frames only pass a call on: their names mean nothing to a student.
_PASSED_ON = ("c10d_logger.py", "_contextlib.py", "_decorators.py")

# Below these, backwards are run: by the engine, which calls hooks, too, or of one function of autograd.
_ENGINE, _BACKWARD = "_engine_run_backward", "BackwardCFunction.apply"
_COLLECTIVES = "distributed_c10d.py"
AUTOGRAD = "autograd"

_STUDENTS, _TORCHS, _OTHER = range(3)

_roots: tuple[str, ...] = ()
# Whose a file is, by its name as code objects have it. A plain dict: this is looked up for every frame of every call.
_owners: dict[str, int] = {}
# The names of the student's files as they are shown, by their names as code objects have them.
_shown: dict[str, str] = {}


class CallSite(NamedTuple):
    """A line of the student's code, and the function of torch that it calls there.

    `api` is that function ("isend", "wait"), or `AUTOGRAD` if a backward of torch's own lies between. `file` is
    relative to the student's folder, if one is configured, and "" if no student's frame was found. Where torch calls a
    function of torch.distributed that was given to it as a hook, it is "a hook".
    """

    api: str
    file: str
    line: int
    function: str

    def __str__(self) -> str:
        return f"{os.path.basename(self.file)}:{self.line}" if self.file else "an unknown line"


def configure(folders: Iterable[str | os.PathLike[str]]) -> None:
    """Call the files under these folders the student's. Without any, all files but torch's, Python's and the kit's are.

    Set once a process, before student code runs.
    """
    global _roots
    _roots = tuple(os.path.join(os.path.abspath(folder), "") for folder in folders)
    _owners.clear()


def locate(api: str = "") -> CallSite:
    """The innermost frame of student code below which the caller runs; about a microsecond.

    The name is that of the outermost torch function under that frame, which is what the student called; `api` is used
    where there is none, as for a method of a work handle.
    """
    frame: FrameType | None = sys._getframe(1)
    outermost = ""
    while frame is not None:
        code = frame.f_code
        owner = _owners.get(code.co_filename)
        if owner is None:
            owner = _owner(code.co_filename)
        if owner == _STUDENTS:
            return CallSite(api, _shown[code.co_filename], frame.f_lineno, code.co_qualname)
        if owner == _TORCHS and api != AUTOGRAD:
            if code.co_qualname == _ENGINE and outermost.endswith(_COLLECTIVES):
                return CallSite(api, "a hook", 0, "")
            outermost = code.co_filename
            if code.co_qualname in (_ENGINE, _BACKWARD):
                api = AUTOGRAD
            elif code.co_name[0] not in "_<" or code.co_name == "__init__":
                api = code.co_qualname
        frame = frame.f_back
    return CallSite(api, "", 0, "")


def is_called_by_torch() -> bool:
    """Whether the caller's own code was entered from torch: the innermost frame outside of the kit is torch's."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(_KIT):
        frame = frame.f_back
    return frame is not None and frame.f_code.co_filename.startswith(_TORCH)


def _owner(filename: str) -> int:
    """Whose the file is; remembered."""
    path = os.path.abspath(filename)
    is_generated = filename.startswith("<") and filename != "<string>"
    if path.startswith(_TORCH):
        owner = _OTHER if os.path.basename(path) in _PASSED_ON else _TORCHS
    elif _roots:
        owner = _STUDENTS if path.startswith(_roots) else _OTHER
    else:
        owner = _OTHER if is_generated or path.startswith((_KIT, *_LIBRARIES)) else _STUDENTS
    root = next((root for root in _roots if path.startswith(root)), None)
    _shown[filename] = filename if root is None else path.removeprefix(root)
    _owners[filename] = owner
    return owner
