"""Makes text that a submission could have influenced safe to show, before any report is made of it."""

from __future__ import annotations

import re
import unicodedata
from typing import Any

import msgspec

# Colours and cursor moves (CSI), titles and links (OSC and its kin, to their terminator), and the two-byte escapes.
_TERMINAL_SEQUENCE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")

# Control characters, invisible formatting (right-to-left overrides among it), lone surrogates, the line separators
# that are not newlines: none can be trusted to leave a terminal, an XML file or a spreadsheet as it was.
_UNSHOWABLE = {"Cc", "Cf", "Cs", "Zl", "Zp"}

# No text of a report is longer, so that nothing that follows has to be fast.
_LONGEST = 20_000


def printable(text: str) -> str:
    """The text with terminal sequences removed and everything else that is not plain text shown as `\\x..`.

    Newlines stay, tabs become spaces, a carriage return at the end of a line goes. Doing it twice changes
    nothing.
    """
    text = _TERMINAL_SEQUENCE.sub("", text).replace("\r\n", "\n").expandtabs(4)
    return text if text.isascii() and text.replace("\n", "").isprintable() else "".join(map(_shown, text))


def _shown(char: str) -> str:
    if char == "\n" or not (unicodedata.category(char) in _UNSHOWABLE or ord(char) & 0xFFFE == 0xFFFE):
        return char
    return char.encode("unicode_escape").decode("ascii")


def one_line(text: str) -> str:
    """The text with every run of white space made one space."""
    return " ".join(text.split())


def shorten(text: str, characters: int, lines: int | None = None) -> str:
    """The text cut to about that length, a note standing where the middle was; head and tail are kept."""
    rows = text.split("\n")
    if lines is not None and len(rows) > lines:
        head = (lines + 1) // 2
        left_out = len(rows) - lines
        text = "\n".join([*rows[:head], f"[... {left_out} lines left out ...]", *rows[len(rows) - lines + head :]])
    if len(text) > characters:
        half = characters // 2
        text = f"{text[:half]}[... {len(text) - 2 * half} characters left out ...]{text[len(text) - half :]}"
    return text


def cleaned(value: Any) -> Any:
    """A report, or any part of one, with every text in it made printable and bounded."""
    if type(value) is str:
        return printable(shorten(value, _LONGEST))
    if isinstance(value, tuple):
        return tuple(map(cleaned, value))
    if isinstance(value, dict):
        return {cleaned(key): cleaned(item) for key, item in value.items()}
    if isinstance(value, msgspec.Struct):
        return msgspec.structs.replace(
            value, **{field: cleaned(getattr(value, field)) for field in value.__struct_fields__}
        )
    return value
