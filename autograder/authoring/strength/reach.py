"""Which tasks of a problem a definition can make a difference to, by the names that definitions use."""

from __future__ import annotations

import ast
from collections.abc import Collection


def reached(source: str, changed: Collection[str], tasks: Collection[str]) -> list[str]:
    """The tasks to grade where these names of the module's top level are changed.

    A task that is changed stands for itself alone; a helper for every task that uses it, through others or not. A name
    that no task uses may do anything: then all tasks are.
    """
    uses = _uses(ast.parse(source))
    helpers = [name for name in changed if name not in tasks]
    found = {task for task in tasks if task in changed or any(name in _closure(task, uses) for name in helpers)}
    return [task for task in tasks if task in found] if found else list(tasks)


def affected(source: str, changed: Collection[str], tasks: Collection[str]) -> set[str]:
    """The tasks that use one of these names, through others or not; the rest is the same code as before.

    A name that no task uses may do anything: then it is all tasks.
    """
    uses = _uses(ast.parse(source))
    closures = {task: _closure(task, uses) for task in tasks}
    if any(all(name not in closure for closure in closures.values()) for name in changed):
        return set(tasks)
    return {task for task, closure in closures.items() if closure & set(changed)}


def defined(source: str) -> list[str]:
    """The names that the top level of a source gives a value to, attributes of them included."""
    return list(dict.fromkeys(name for node in ast.parse(source).body for name in _given(node)))


def _given(node: ast.stmt) -> set[str]:
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return {node.name}
    if isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        return {part.id for target in targets for part in ast.walk(target) if isinstance(part, ast.Name)}
    return set()


def _uses(tree: ast.Module) -> dict[str, set[str]]:
    uses: dict[str, set[str]] = {}
    for node in tree.body:
        used = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
        for name in _given(node):
            uses.setdefault(name, set()).update(used)
    return uses


def _closure(task: str, uses: dict[str, set[str]]) -> set[str]:
    seen: set[str] = set()
    ahead = [task]
    while ahead:
        name = ahead.pop()
        if name not in seen:
            seen.add(name)
            ahead.extend(uses.get(name, ()))
    return seen
