"""Opens what somebody handed in: a folder or a zip, copied file by file to a place where it can be graded.

Nothing of it is imported or run here. Names, sizes and kinds of files are all taken to be hostile.
"""

from __future__ import annotations

import io
import os
import stat
import unicodedata
import zipfile
import zlib
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import IO

from autograder.report.clean import one_line, printable, shorten

_CHUNK = 1 << 20
_LONGEST_READ = 2 << 20  # bytes: the list of some 20,000 names in a zip
_LONGEST_NAME = 200  # bytes, folders included: every file system takes it
_TOOLS_LEAVE = {"__MACOSX", "__pycache__"}
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


class SubmissionError(Exception):
    """A submission cannot be graded as it is; the text tells its author what to change."""


class _Unreadable(Exception):
    """A file of a folder cannot be opened."""


@dataclass(frozen=True)
class Caps:
    """The most that a submission may hold. A single file that is too large is left out; all else is refused."""

    files: int = 2000
    file_bytes: int = 16 << 20
    total_bytes: int = 64 << 20
    ratio: int = 200
    depth: int = 16


@dataclass(frozen=True)
class Submission:
    """A submission that is ready to be graded: `folder` holds the modules, `notes` say what was left out."""

    name: str
    folder: Path
    notes: tuple[str, ...]


@dataclass(frozen=True)
class _Entry:
    """A regular file of the submission, its name relative to the top, and how large it says that it is."""

    name: PurePosixPath
    size: int
    source: Path | zipfile.ZipInfo


def open_submission(path: Path, scratch: Path, known_modules: Collection[str], caps: Caps = Caps()) -> Submission:
    """Copies the folder or zip at `path` into a new folder under `scratch`.

    The modules may lie at the top, in `handout/`, or one folder further down; their whole folder is copied, so that
    modules and data of a student's own come along. Raises SubmissionError for what its author can fix, and OSError
    where `scratch` cannot be written to, which is nobody's fault here.
    """
    name = shown(path.resolve().name if path.is_dir() else path.resolve().stem)
    target = scratch / "submission"
    target.mkdir()
    notes: list[str] = []
    if path.is_dir():
        _copy_folder(path, target, known_modules, caps, notes)
    elif path.is_file():
        _copy_zip(path, target, known_modules, caps, notes)
    else:
        raise SubmissionError(f"{shown(path)} is neither a folder nor a zip file. Check the name.")
    return Submission(name, target, tuple(notes))


def shown(name: object) -> str:
    """A name out of a submission as it may be shown: on one line, harmless, not too long."""
    return shorten(one_line(printable(str(name))), 120)


# Folders


def _copy_folder(path: Path, target: Path, modules: Collection[str], caps: Caps, notes: list[str]) -> None:
    found = _listed(path)
    tops = [PurePosixPath(), *(PurePosixPath(name) for name in found if not _ignored(name) and _is_folder(path / name))]
    tops += [top / "handout" for top in tops[1:] if _is_folder(path / top / "handout")]
    places = [top / f"{module}.py" for top in tops for module in modules]
    top = _choose_top([place for place in places if os.path.isfile(path / place)], modules, found)
    _copy(_folder_entries(path / top, caps, notes), target, modules, caps, notes)


def _listed(path: Path) -> list[str]:
    try:
        return sorted(os.listdir(path))
    except OSError as error:
        raise SubmissionError(f"The folder {shown(path.name)} may not be read. Change its permissions.") from error


def _is_folder(path: Path) -> bool:
    return os.path.isdir(path) and not path.is_symlink()


def _folder_entries(root: Path, caps: Caps, notes: list[str]) -> Iterator[_Entry]:
    """The regular files below `root`, in the order of their names."""
    real_root = Path(os.path.realpath(root))
    for folder, folders, files in os.walk(root, onerror=_raise):
        inside = PurePosixPath(Path(folder).relative_to(root).as_posix())
        folders[:] = sorted(name for name in folders if not _ignored(name))
        links = [name for name in folders if (Path(folder) / name).is_symlink()]
        for name in sorted([*files, *links]):
            path, entry = Path(folder) / name, inside / name
            if _ignored(name):
                continue
            # A link is followed to a file of the same folder only.
            real = Path(os.path.realpath(path)) if path.is_symlink() else path
            status = real.lstat() if os.path.lexists(real) else None
            if real is not path and not real.is_relative_to(real_root):
                notes.append(f"{shown(entry)} was left out: it is a link out of the folder.")
            elif status is None or not stat.S_ISREG(status.st_mode):
                notes.append(f"{shown(entry)} was left out: it is not an ordinary file.")
            else:
                yield _Entry(entry, status.st_size, real)
        if len(inside.parts) >= caps.depth and folders:
            raise SubmissionError(f"Folders are nested more than {caps.depth} deep. Hand in a flatter folder.")


def _raise(error: OSError) -> None:
    name = shown(Path(error.filename or "").name)
    raise SubmissionError(f"The folder {name} may not be read. Change its permissions.") from error


# Zips


class _OutsideOfZip(OSError):
    """A zip speaks of a place that is not in it. An OSError, since zipfile expects one where it only probes."""


class _ZipBytes(io.BufferedReader):
    """The bytes of a zip, in small portions only: zipfile reads the list of all names at once, and keeps it."""

    def read(self, size: int | None = -1) -> bytes:
        data = super().read(_LONGEST_READ + 1 if size is None or size < 0 else min(size, _LONGEST_READ + 1))
        if len(data) > _LONGEST_READ:
            raise SubmissionError("The zip holds too many names. Zip the handout folder alone.")
        return data

    def seek(self, offset: int, whence: int = 0) -> int:
        try:
            return super().seek(offset, whence)
        except (OSError, ValueError) as error:
            raise _OutsideOfZip("it points outside of itself") from error


def _copy_zip(path: Path, target: Path, modules: Collection[str], caps: Caps, notes: list[str]) -> None:
    if path.stat().st_size > caps.total_bytes:
        raise SubmissionError(f"The zip is larger than {_mb(caps.total_bytes)}. Zip the handout folder alone.")
    try:
        file = _ZipBytes(io.FileIO(path))
    except OSError as error:
        raise SubmissionError(f"{shown(path.name)} may not be read. Change its permissions.") from error
    with file:
        try:
            archive = zipfile.ZipFile(file)
            entries = list(_zip_entries(archive, caps, notes))
            top = _choose_top([entry.name for entry in entries], modules, _tops(entries))
            inside = [replace(e, name=e.name.relative_to(top)) for e in entries if e.name.is_relative_to(top)]
            _copy(inside, target, modules, caps, notes, archive)
        except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, ValueError, _OutsideOfZip) as error:
            text = f"{shown(path.name)} is no zip file, or a damaged one ({shown(error)}). Zip it again."
            raise SubmissionError(text) from error


def _tops(entries: list[_Entry]) -> list[str]:
    return sorted({entry.name.parts[0] + ("/" if len(entry.name.parts) > 1 else "") for entry in entries})


def _zip_entries(archive: zipfile.ZipFile, caps: Caps, notes: list[str]) -> Iterator[_Entry]:
    """The regular files of the zip, in the order of their names; SubmissionError for what honest tools never make."""
    infos = [info for info in archive.infolist() if not info.orig_filename.endswith(("/", "\\"))]
    names = [_safe_name(info.orig_filename, caps) for info in infos]
    _refuse_collisions([name for name in names if not any(map(_ignored, name.parts))])
    for name, info in sorted(zip(names, infos, strict=True), key=lambda pair: pair[0]):
        if any(map(_ignored, name.parts)):
            continue
        kind = stat.S_IFMT(info.external_attr >> 16)
        if kind not in (0, stat.S_IFREG):
            notes.append(f"{shown(name)} was left out: it is not an ordinary file.")
        elif info.flag_bits & 0x1:
            raise SubmissionError("The zip is protected by a password. Zip it again without one.")
        elif info.compress_type not in _METHODS:
            raise SubmissionError("The zip uses an unusual compression. Zip it again with the system's own tool.")
        else:
            yield _Entry(name, info.file_size, info)


def _safe_name(raw: str, caps: Caps) -> PurePosixPath:
    # Some tools on Windows write backslashes.
    name = PurePosixPath(raw.replace("\\", "/"))
    if name.is_absolute() or ".." in name.parts or not name.parts or name.parts[0][1:2] == ":":
        raise SubmissionError(f"The zip holds {shown(raw)}, a name that leads out of it. Zip the handout folder again.")
    if len(name.parts) > caps.depth:
        raise SubmissionError(f"Folders are nested more than {caps.depth} deep. Hand in a flatter folder.")
    return name


def _refuse_collisions(names: list[PurePosixPath]) -> None:
    """Refuses names that some file system takes for one, and a name that is a file and a folder."""
    seen: dict[str, tuple[str, bool]] = {}
    for name in names:
        for part in (name, *list(name.parents)[:-1]):
            key = unicodedata.normalize("NFC", part.as_posix()).casefold()
            this = (part.as_posix(), part == name)
            if key in seen and (part == name or seen[key] != this):
                what = f"{shown(part)} twice, or in two spellings"
                raise SubmissionError(f"The zip holds {what}. Zip the handout folder again.")
            seen[key] = this


# Both


def _choose_top(names: Collection[PurePosixPath], modules: Collection[str], found: Collection[str]) -> PurePosixPath:
    """The folder that holds the modules: `handout/` before the top, the top before what lies one folder deeper."""
    wanted = {f"{module}.py" for module in modules}
    tops = {name.parent for name in names if name.name in wanted}
    for candidates in (
        [top for top in tops if top.parts == ("handout",)],
        [top for top in tops if top.parts == ()],
        [top for top in tops if len(top.parts) == 2 and top.name == "handout"],
        [top for top in tops if len(top.parts) == 1],
    ):
        if len(candidates) > 1:
            places = " and ".join(sorted(shown(top) for top in candidates))
            raise SubmissionError(f"The modules are in {places}, and only one can be graded. Hand in one of them.")
        if candidates:
            return candidates[0]
    looked_for = ", ".join(sorted(wanted))
    seen = ", ".join(shown(name) for name in list(found)[:10]) + (", ..." if len(found) > 10 else "")
    raise SubmissionError(
        f"None of {looked_for} was found, at the top, in handout/ or one folder further down. "
        f"What is there: {seen or 'nothing'}. Hand in the handout folder."
    )


def _copy(
    entries: Iterator[_Entry] | list[_Entry],
    target: Path,
    modules: Collection[str],
    caps: Caps,
    notes: list[str],
    archive: zipfile.ZipFile | None = None,
) -> None:
    total = 0
    for count, entry in enumerate(entries, 1):
        if count > caps.files:
            raise SubmissionError(f"There are more than {caps.files} files. Hand in the handout folder alone.")
        if unprintable := str(entry.name) != printable(str(entry.name)):
            notes.append(f"{shown(entry.name)} was left out: its name holds control characters.")
        elif entry.size > caps.file_bytes:
            notes.append(f"{shown(entry.name)} was left out: it is larger than {_mb(caps.file_bytes)}.")
        if unprintable or entry.size > caps.file_bytes:
            continue
        _check_ratio(entry, caps)
        try:
            with _opened(entry, archive) as source:
                total += _write(source, target / entry.name, entry, min(caps.file_bytes, caps.total_bytes - total))
        except _Unreadable as error:
            if str(entry.name) in {f"{module}.py" for module in modules}:
                raise SubmissionError(f"{shown(entry.name)} may not be read. Change its permissions.") from error
            notes.append(f"{shown(entry.name)} was left out: it may not be read.")


def _check_ratio(entry: _Entry, caps: Caps) -> None:
    if isinstance(entry.source, zipfile.ZipInfo) and entry.size > max(_CHUNK, caps.ratio * entry.source.compress_size):
        raise SubmissionError(f"{shown(entry.name)} is compressed beyond belief. Take it out of the zip.")


def _opened(entry: _Entry, archive: zipfile.ZipFile | None) -> IO[bytes]:
    if isinstance(entry.source, zipfile.ZipInfo):
        assert archive is not None
        return archive.open(entry.source)
    # Between the look and the opening the file may have become a link or a pipe.
    try:
        handle = os.open(entry.source, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError as error:
        raise _Unreadable from error
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise _Unreadable
    return os.fdopen(handle, "rb")


def _write(source: IO[bytes], path: Path, entry: _Entry, most: int) -> int:
    """Copies at most `most` bytes, whatever size was announced, and returns how many."""
    if len(os.fsencode(str(entry.name))) > _LONGEST_NAME:
        raise SubmissionError(f"The name {shown(entry.name)} is too long. Shorten it.")
    path.parent.mkdir(parents=True, exist_ok=True)
    written = 0
    with path.open("xb") as file:
        while chunk := source.read(min(_CHUNK, most - written + 1)):
            written += len(chunk)
            if written > most:
                raise SubmissionError(f"The submission is too large, at {shown(entry.name)}. Take out what is no code.")
            file.write(chunk)
    return written


def _ignored(name: str) -> bool:
    """What tools leave behind, silently left out: hidden files, caches, a Mac's resource forks."""
    return name.startswith(".") or name in _TOOLS_LEAVE or name.endswith(".pyc")


def _mb(count: int) -> str:
    return f"{count / (1 << 20):g} MB"
