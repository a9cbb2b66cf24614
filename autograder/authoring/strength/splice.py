"""Source text with the positions of its syntax, and edits of it: everything that is not edited stays as it is."""

from __future__ import annotations

import ast
from typing import NamedTuple

LONGEST = 160
# The syntax that has a place of its own.
Placed = ast.expr | ast.stmt | ast.arg | ast.keyword | ast.alias | ast.pattern | ast.ExceptHandler


class Edit(NamedTuple):
    """Replace the bytes from `start` to `end` by `text`."""

    start: int
    end: int
    text: str


class Text:
    """A module's source. Positions are bytes from its start, as those of `ast` are bytes from a line's."""

    def __init__(self, source: str) -> None:
        self._bytes = source.encode()
        self._lines = [0]
        for line in self._bytes.splitlines(keepends=True):
            self._lines.append(self._lines[-1] + len(line))

    def span(self, node: ast.AST) -> tuple[int, int]:
        """Where a node starts and ends, without parentheses around it."""
        assert isinstance(node, Placed) and node.end_lineno is not None and node.end_col_offset is not None
        return self._lines[node.lineno - 1] + node.col_offset, self._lines[node.end_lineno - 1] + node.end_col_offset

    def of(self, node: ast.AST) -> str:
        """A node's own text."""
        start, end = self.span(node)
        return self._bytes[start:end].decode()

    def replace(self, node: ast.AST, text: str) -> Edit:
        """The node becomes `text`."""
        return Edit(*self.span(node), text)

    def between(self, left: ast.AST, right: ast.AST, old: str, new: str) -> Edit:
        """The operator between two operands becomes another one."""
        start, end = self.span(left)[1], self.span(right)[0]
        return Edit(start, end, self._bytes[start:end].decode().replace(old, new, 1))

    def without(self, items: list[ast.AST], item: ast.AST, before: int) -> Edit:
        """One of the arguments of a call goes, with its comma; `before` is where the first one may begin."""
        place = items.index(item)
        start, end = self.span(item)
        if place > 0:
            start = self.span(items[place - 1])[1]
        elif len(items) > 1:
            end = self.span(items[1])[0]
        else:
            start = before
        return Edit(start, end, "")

    def apply(self, edit: Edit) -> str:
        """The whole source with this edit."""
        return (self._bytes[: edit.start] + edit.text.encode() + self._bytes[edit.end :]).decode()

    def lines(self, edit: Edit) -> tuple[int, str, str]:
        """The number of the first line that an edit touches, and the touched lines before and after it, as one each."""
        first = sum(start <= edit.start for start in self._lines[:-1])
        start = self._lines[first - 1]
        end = min(line for line in self._lines if line >= edit.end) if edit.end > start else self._lines[first]
        before = self._bytes[start:end].decode()
        after = (self._bytes[start : edit.start] + edit.text.encode() + self._bytes[edit.end : end]).decode()
        return first, _one_line(before), _one_line(after)


def _one_line(text: str) -> str:
    """Without the comments that end its lines, and shortened: it names a mutant, and is shown."""
    words = " ".join(line.partition("  # ")[0] for line in text.splitlines()).split()
    line = " ".join(words)
    return line if len(line) <= LONGEST else f"{line[:LONGEST]} ..."
