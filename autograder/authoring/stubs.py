"""Cuts the stubs that students fill in from the solutions.

In a solution, the lines from `# BEGIN SOLUTION` to `# END SOLUTION` are cut out. In a function, the first such block
becomes one `raise NotImplementedError`; anywhere else nothing takes its place.
"""

from __future__ import annotations

import ast
import builtins
import io
import symtable
import textwrap
import tokenize
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from autograder.grading.assignment import Assignment
from autograder.report.write import write_atomically

BEGIN = "# BEGIN SOLUTION"
END = "# END SOLUTION"
LINE_LENGTH = 120

HEADER = """\
# {title}. Write what raises NotImplementedError, in any order; names and arguments stay as they are.
# What is asked: assignment/{module}.md. Where you stand: make grade ONLY={module}
"""


class CutError(Exception):
    """The handout cannot be cut from this solution; the text says where and why."""


@dataclass(frozen=True)
class Block:
    """One solution block: the lines of its two markers, counted from 1, and their indentation."""

    begin: int
    end: int
    indent: str


def cut(source: str, module: str, tasks: Collection[str], title: str = "") -> str:
    """The stub of one module. `tasks` are the sections of its chapter; `title` opens the comment at its top.

    Raises CutError where the markers do not pair, or the result would not compile, would use a name whose definition
    is gone, or would still hold a line of a solution.
    """
    tree = _parse(source, module)
    blocks = find_blocks(source, module)
    lines = source.splitlines()
    kept = _without(lines, blocks, _stubs(tree, blocks, module, tasks))
    body = "\n".join(_with_blank_lines_normalised(kept)).strip("\n") + "\n"
    result = HEADER.format(title=title or module, module=module) + body
    _check(result, module, solution_lines(source, blocks))
    return result


def find_blocks(source: str, module: str) -> list[Block]:
    """The solution blocks, in order. Only comments on a line of their own are markers; CutError if they do not pair."""
    blocks: list[Block] = []
    opened: tuple[int, str] | None = None
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type != tokenize.COMMENT:
            continue
        line, indent = token.start[0], token.line[: token.start[1]]
        if token.string == BEGIN and not indent.strip() and opened is None:
            opened = (line, indent)
        elif token.string == END and opened is not None and indent == opened[1]:
            blocks.append(Block(opened[0], line, indent))
            opened = None
        elif "".join(token.string.lower().split()).strip("#:-") in ("beginsolution", "endsolution"):
            raise CutError(f"{module}.py:{line}: this marker has no partner at the same indentation, or is misspelt")
    if opened:
        raise CutError(f"{module}.py:{opened[0]}: this solution block has no end")
    return blocks


def solution_lines(source: str, blocks: list[Block]) -> set[str]:
    """The telling lines of the blocks, long enough to be recognised, that are no code outside of them too."""
    lines = source.splitlines()
    inside = {i for block in blocks for i in range(block.begin, block.end + 1)}
    quoted = _lines_in_strings(source)
    outside = {text.strip() for i, text in enumerate(lines, 1) if i not in inside | quoted}
    found = {lines[i - 1].strip() for i in inside} - outside - {BEGIN, END}
    return {text for text in found if len(text) >= 16 and any(sign in text for sign in "(=[")}


def _parse(source: str, module: str) -> ast.Module:
    try:
        return ast.parse(source)
    except SyntaxError as error:
        raise CutError(f"{module}.py:{error.lineno}: {error.msg}") from None


def _stubs(tree: ast.Module, blocks: list[Block], module: str, tasks: Collection[str]) -> dict[Block, list[str]]:
    """The lines that take the place of a block: one `raise` in each function, nothing elsewhere."""
    stubs: dict[Block, list[str]] = {}
    raised: set[int] = set()
    for block in blocks:
        owners = _owners(tree, block)
        if not owners or isinstance(owners[-1], ast.ClassDef) or owners[-1].lineno in raised:
            continue
        raised.add(owners[-1].lineno)
        outermost = next(i for i, node in enumerate(owners, 1) if not isinstance(node, ast.ClassDef))
        stubs[block] = _raise(block.indent, module, [node.name for node in owners[:outermost]], tasks)
    return stubs


def _owners(tree: ast.AST, block: Block) -> list[ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef]:
    """The classes and functions that the block is in, the outermost first.

    Found by indentation, as a reader does: a marker after the last statement of a function is a comment, which the
    syntax tree does not hold.
    """
    children = [node for node in ast.iter_child_nodes(tree) if isinstance(node, ast.stmt)]
    before = [node for node in children if node.lineno < block.begin and node.col_offset < len(block.indent)]
    if not before:
        return []
    last, inner = before[-1], _owners(before[-1], block)
    return [last, *inner] if isinstance(last, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) else inner


def _raise(indent: str, module: str, names: list[str], tasks: Collection[str]) -> list[str]:
    section = next((f", section {name}" for name in (names[-1], *names, ".".join(names)) if name in tasks), "")
    what, where = f"{module}.{'.'.join(names)}: not written yet; ", f"see assignment/{module}.md{section}"
    line = f'{indent}raise NotImplementedError("{what}{where}")'
    if len(line) <= LINE_LENGTH:
        return [line]
    inner = [f'{indent}    "{text}"' for text in (what, where)]
    return [f"{indent}raise NotImplementedError(", *inner, f"{indent})"]


def _without(lines: list[str], blocks: list[Block], stubs: dict[Block, list[str]]) -> list[str]:
    kept: list[str] = []
    after = 0
    for block in blocks:
        kept += lines[after : block.begin - 1] + stubs.get(block, [])
        after = block.end
    return kept + lines[after:]


def _with_blank_lines_normalised(lines: list[str]) -> list[str]:
    """At most two blank lines before a line at the margin and one before any other; quoted texts stay as they are."""
    quoted = _lines_in_strings("\n".join(lines) + "\n")
    result: list[str] = []
    blank = 0
    for number, line in enumerate(lines, 1):
        if not line.strip() and number not in quoted:
            blank += 1
            continue
        result += [""] * min(blank, 1 if line[:1].isspace() and number not in quoted else 2)
        blank = 0
        result.append(line)
    return result


def _lines_in_strings(source: str) -> set[int]:
    """The lines, after the first, of every string that spans several."""
    try:
        nodes = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Constant | ast.JoinedStr)]
    except SyntaxError:
        return set()
    return {line for node in nodes for line in range(node.lineno + 1, (node.end_lineno or node.lineno) + 1)}


def _check(result: str, module: str, secret: set[str]) -> None:
    try:
        compile(result, f"{module}.py", "exec", dont_inherit=True)
    except SyntaxError as error:
        raise CutError(f"{module}.py: what is left of it does not compile: {error.msg}: {error.text}") from None
    if "BEGIN SOLUTION" in result or "END SOLUTION" in result:
        raise CutError(f"{module}.py: a marker is left in the handout")
    undefined = sorted(set(_undefined(result)))
    if undefined:
        raise CutError(f"{module}.py: the handout uses {', '.join(undefined)}, defined in a solution block only")
    leaks = sorted(line for line in secret if line in result)
    if leaks:
        raise CutError(f"{module}.py: the handout holds this line of a solution: {leaks[0]}")


def _undefined(source: str) -> Iterator[str]:
    """Names that are read and nowhere bound. Annotations count: they are there for a reader."""
    evaluated = source.replace("from __future__ import annotations", "")
    top = symtable.symtable(evaluated, "handout", "exec")
    defined = {symbol.get_name() for symbol in top.get_symbols() if symbol.is_assigned() or symbol.is_imported()}
    defined |= {*dir(builtins), "__file__", "__name__", "__doc__", "__annotations__", "__class__"}
    scopes = [top]
    while scopes:
        scope = scopes.pop()
        scopes += scope.get_children()
        for symbol in scope.get_symbols():
            unbound = symbol.is_global() or scope is top
            if unbound and symbol.is_referenced() and symbol.get_name() not in defined:
                yield symbol.get_name()


def cut_handout(solutions: Path, handout: Path, assignment: Assignment) -> list[Path]:
    """Cuts every problem's stub into the folder `handout`; returns the files that changed, those removed among them.

    Raises CutError, before anything is changed, where `solutions` lacks a problem, as in a student's release.
    """
    stubs = make_stubs(solutions, assignment)
    handout.mkdir(exist_ok=True)
    changed = []
    for name, text in stubs.items():
        path = handout / name
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            write_atomically(path, text)
            changed.append(path)
    for path in sorted(handout.glob("*.py")):
        if path.name not in stubs:
            path.unlink()
            changed.append(path)
    return changed


def make_stubs(solutions: Path, assignment: Assignment) -> dict[str, str]:
    """The text of every file of the handout, by name."""
    stubs = {}
    for number, problem in enumerate(assignment.problems, 1):
        path = solutions / f"{problem.name}.py"
        if not path.is_file():
            raise CutError(f"{path} is missing: the handout is cut from the solutions, which students do not have")
        tasks = [task.name for task in problem.tasks]
        title = textwrap.shorten(f"Problem {number}: {problem.title}", 60, placeholder="...")
        stubs[path.name] = cut(path.read_text(encoding="utf-8"), problem.name, tasks, title)
    return stubs
