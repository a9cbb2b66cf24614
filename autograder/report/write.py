"""Writes a report to a file: wholly or not at all."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable
from pathlib import Path

from autograder.report import csv, gradescope, html, junit
from autograder.report.model import Report

FORMATS: dict[str, Callable[[Report], str]] = {
    ".json": gradescope.render,
    ".xml": junit.render,
    ".html": html.render,
    ".csv": csv.render,
}


class ReportError(Exception):
    """A file cannot be written; the text says which, why, and what to do about it."""


def check_target(path: Path) -> None:
    """Says before a grading whether its report could be written to `path`; raises ReportError if not."""
    if path.suffix.lower() not in FORMATS:
        known = ", ".join(FORMATS)
        raise ReportError(f"{path}: the ending says which report to write; it has to be one of {known}")
    _check_place(path)


def write_report(report: Report, path: Path) -> None:
    """Writes the report in the format that the ending of `path` names; raises ReportError."""
    check_target(path)
    write_atomically(path, FORMATS[path.suffix.lower()](report))


def write_atomically(path: Path, data: bytes | str) -> None:
    """Writes `data` so that `path` holds the old content or the new, whatever happens in between.

    The file is made beside `path` and takes its place when it is safe on disk. Raises ReportError.
    """
    _check_place(path)
    content = data.encode() if isinstance(data, str) else data
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}.tmp")
    try:
        try:
            _write_new(temporary, content)
            os.replace(temporary, path)
            _sync_folder(path.parent)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        raise ReportError(f"{path} was not written: {error.strerror or error}") from error


def _check_place(path: Path) -> None:
    if not path.parent.is_dir():
        raise ReportError(f"{path}: there is no folder {path.parent}; make it first")
    if path.exists() and not path.is_file():
        raise ReportError(f"{path} is not an ordinary file, and only such a file can be replaced; choose another name")
    if not os.access(path.parent, os.W_OK | os.X_OK):
        raise ReportError(f"{path}: nothing may be written to the folder {path.parent}; choose another one")


def _write_new(path: Path, content: bytes) -> None:
    with path.open("xb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _sync_folder(folder: Path) -> None:
    """Makes the new name itself last; where a folder cannot be synchronised, the file is whole all the same."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(handle)
    except OSError:
        pass
    finally:
        os.close(handle)
