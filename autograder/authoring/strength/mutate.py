"""Mutants of a module: the same source with one small change in what a student writes."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from autograder.authoring.strength.operators import mutations
from autograder.authoring.strength.splice import Edit, Placed, Text
from autograder.authoring.stubs import BEGIN, find_blocks

Key = tuple[str, str, str, int]


class Mutant(NamedTuple):
    """One change: where, the touched lines before and after it, and the whole mutated source."""

    module: str
    where: str  # the function, method or name that is changed, as in "Pipeline.step"
    line: int
    before: str
    after: str
    source: str
    nth: int = 1  # of the lines of this function that the same becomes of

    @property
    def top(self) -> str:
        """The definition at the top of the module that the change is in."""
        return self.where.partition(".")[0]

    @property
    def key(self) -> Key:
        """What the change is called whatever line it is on."""
        return f"{self.module}.{self.where}", self.before, self.after, self.nth


def mutants(source: str, module: str) -> list[Mutant]:
    """Every mutant that compiles, once each, in the order of the source.

    What stands outside of solution blocks, where there are any, is the handout's and not a student's: it stays.
    """
    tree, text = ast.parse(source), Text(source)
    blocks = find_blocks(source, module) if BEGIN in source else None
    assigned = _assigned_once(tree)
    found: dict[str, Mutant] = {}
    for node, parent, where in _walk(tree, tree, ()):
        place = node.target if isinstance(node, ast.comprehension) else node
        end = place.end_lineno or place.lineno
        if blocks is not None and not any(b.begin < place.lineno and end < b.end for b in blocks):
            continue
        for edit in mutations(node, parent, text):
            if edit.text == "pass" and node in assigned:
                continue
            mutant = _made(edit, module, where, text)
            if mutant.source != source and _compiles(mutant.source):
                found.setdefault(mutant.source, mutant)
    return _counted(found.values())


def _counted(made: Iterable[Mutant]) -> list[Mutant]:
    seen: Counter[Key] = Counter()
    counted = []
    for mutant in made:
        seen[mutant.key] += 1
        counted.append(mutant._replace(nth=seen[mutant.key]))
    return counted


def _made(edit: Edit, module: str, where: tuple[str, ...], text: Text) -> Mutant:
    line, before, after = text.lines(edit)
    return Mutant(module, ".".join(where) or "module", line, before, after, text.apply(edit))


def _compiles(source: str) -> bool:
    try:
        compile(source, "mutant", "exec", dont_inherit=True)
    except SyntaxError:
        return False
    return True


def _walk(
    node: ast.AST, parent: ast.AST, where: tuple[str, ...]
) -> Iterator[tuple[Placed | ast.comprehension, ast.AST, tuple[str, ...]]]:
    """Every node that may be mutated, with its parent and the definitions around it."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        where = (*where, node.name)
    elif not where and isinstance(node, ast.Assign | ast.AnnAssign):
        where = (ast.unparse(_targets(node)[0]),)
    if isinstance(node, Placed | ast.comprehension):
        yield node, parent, where
    for child in _children(node):
        yield from _walk(child, node, where)


def _children(node: ast.AST) -> Iterator[ast.AST]:
    """What is inside of a node, without annotations, types, docstrings and the words of an error or an f-string."""
    if isinstance(node, ast.Raise | ast.JoinedStr | ast.Import | ast.ImportFrom):
        return
    for field, value in ast.iter_fields(node):
        if field in ("annotation", "returns", "decorator_list", "bases"):
            continue
        if field == "value" and isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) in ("Action", "Group"):
            continue  # names of types
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield child


def _targets(node: ast.Assign | ast.AnnAssign) -> list[ast.expr]:
    return node.targets if isinstance(node, ast.Assign) else [node.target]


def _assigned_once(tree: ast.AST) -> set[ast.AST]:
    """The assignments that give a name its only value, in their function or module."""
    once: set[ast.AST] = set()
    for scope in [tree, *(node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))]:
        given = [argument.arg for argument in _arguments(scope)]
        assignments = [node for node in ast.walk(scope) if isinstance(node, ast.Assign | ast.AnnAssign)]
        names = {node: _names(node) for node in assignments}
        for node, own in names.items():
            others = {name for other, them in names.items() if other is not node for name in them} | set(given)
            if own and not own & others:
                once.add(node)
            else:
                once.discard(node)
    return once


def _arguments(scope: ast.AST) -> list[ast.arg]:
    if not isinstance(scope, ast.FunctionDef):
        return []
    return [node for node in ast.walk(scope.args) if isinstance(node, ast.arg)]


def _names(node: ast.Assign | ast.AnnAssign) -> set[str]:
    """The names that an assignment gives a value to: none for an attribute or an element."""
    return {
        part.id
        for target in _targets(node)
        for part in ast.walk(target)
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)
    }
