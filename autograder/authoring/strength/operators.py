"""The mutations of an expression or statement: small changes, each such as somebody makes by mistake."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autograder.authoring.strength.splice import Edit, Text

COMPARISONS = {
    ast.Lt: ("<", "<=", ">="),
    ast.LtE: ("<=", "<", ">"),
    ast.Gt: (">", ">=", "<="),
    ast.GtE: (">=", ">", "<"),
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.Is: ("is", "is not"),
    ast.IsNot: ("is not", "is"),
    ast.In: ("in", "not in"),
    ast.NotIn: ("not in", "in"),
}
ARITHMETIC = {
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "/"),
    ast.Div: ("/", "*"),
    ast.FloorDiv: ("//", "*"),
    ast.Pow: ("**", "*"),
    ast.LShift: ("<<", ">>"),
    ast.RShift: (">>", "<<"),
    ast.MatMult: ("@", "*"),
}
TWINS = [("min", "max"), ("minimum", "maximum"), ("MIN", "MAX"), ("any", "all"), ("zeros", "ones"), ("add", "sub")]
TWINS += [("zeros_like", "ones_like"), ("SUM", "PRODUCT")]
SWAPS = dict(TWINS) | {right: left for left, right in TWINS}
# Functions of these are not methods of a value that could stand there without them.
MODULES = {"torch", "dist", "nn", "F", "np", "math", "time"}


def mutations(node: ast.AST, parent: ast.AST, text: Text) -> Iterator[Edit]:
    """Every mutation of this one node; of what is inside of it, only where the node gives it its sense."""
    for operator in (_comparisons, _operators, _conditions, _constants, _calls, _names, _slices, _statements, _returns):
        yield from operator(node, parent, text)


def _whole(node: ast.AST, parent: ast.AST, text: Text, new: str) -> Edit:
    """A node becomes another expression, in parentheses where an operator or a dot beside it might split it."""
    splits = (ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.Attribute, ast.Subscript, ast.Call, ast.IfExp)
    atom = isinstance(
        ast.parse(new, mode="eval").body, ast.Name | ast.Constant | ast.Call | ast.Attribute | ast.Subscript
    )
    return text.replace(node, new if atom or not isinstance(parent, splits) else f"({new})")


def _comparisons(node: ast.AST, parent: ast.AST, text: Text) -> Iterator[Edit]:
    if isinstance(node, ast.Compare):
        operands = [node.left, *node.comparators]
        for left, op, right in zip(operands, node.ops, operands[1:], strict=False):
            old, *others = COMPARISONS[type(op)]
            for new in others:
                yield text.between(left, right, old, new)


def _operators(node: ast.AST, parent: ast.AST, text: Text) -> Iterator[Edit]:
    if isinstance(node, ast.BinOp) and type(node.op) in ARITHMETIC:
        yield text.between(node.left, node.right, *ARITHMETIC[type(node.op)])
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod):
        yield _whole(node, parent, text, text.of(node.left))
    if isinstance(node, ast.AugAssign) and type(node.op) in ARITHMETIC:
        old, new = ARITHMETIC[type(node.op)]
        yield text.between(node.target, node.value, f"{old}=", f"{new}=")
        yield text.between(node.target, node.value, f"{old}=", "=")
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.USub):
        yield _whole(node, parent, text, text.of(node.operand))
    if isinstance(node, ast.BoolOp):
        old, new = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
        for left, right in zip(node.values, node.values[1:], strict=False):
            yield text.between(left, right, old, new)
        if len(node.values) == 2:
            yield from (_whole(node, parent, text, text.of(value)) for value in node.values)


def _conditions(node: ast.AST, parent: ast.AST, text: Text) -> Iterator[Edit]:
    """Branches taken always, never, and the other way round; a loop that would go on for ever tells nothing."""
    tests = [node.test] if isinstance(node, ast.If | ast.IfExp | ast.While) else []
    tests += node.ifs if isinstance(node, ast.comprehension) else []
    for test in tests:
        yield text.replace(test, "False")
        if not isinstance(node, ast.While):
            yield text.replace(test, "True")
        if not isinstance(test, ast.Compare | ast.UnaryOp):  # those are turned round by their operator
            yield text.replace(test, f"not ({text.of(test)})")


def _constants(node: ast.AST, parent: ast.AST, text: Text) -> Iterator[Edit]:
    if not isinstance(node, ast.Constant) or isinstance(parent, ast.Expr):
        return
    if isinstance(node.value, bool):
        yield text.replace(node, str(not node.value))
    elif isinstance(node.value, int):
        yield from (_whole(node, parent, text, str(node.value + step)) for step in (1, -1))
    elif isinstance(node.value, float):
        yield _whole(node, parent, text, repr(node.value * 2 or 1.0))
    elif isinstance(node.value, str):
        yield text.replace(node, repr(f"not {node.value}"))


def _calls(node: ast.AST, parent: ast.AST, text: Text) -> Iterator[Edit]:
    """A call without one of its optional arguments, or what it is called on or with: x for x.clone() or list(x)."""
    if not isinstance(node, ast.Call):
        return
    arguments = sorted([*node.args, *node.keywords], key=lambda argument: text.span(argument))
    opened = text.span(node.func)[1] + 1
    for argument in arguments:
        if isinstance(argument, ast.keyword | ast.Starred):
            yield text.without(arguments, argument, opened)
    if isinstance(parent, ast.Expr):
        return  # what is left would do nothing: the same as a statement removed
    if isinstance(node.func, ast.Attribute) and text.of(node.func.value) not in MODULES | {"super()"}:
        yield _whole(node, parent, text, text.of(node.func.value))
    if isinstance(node.func, ast.Name) and len(arguments) == len(node.args) == 1:
        yield _whole(node, parent, text, text.of(node.args[0]))


def _names(node: ast.AST, parent: ast.AST, text: Text) -> Iterator[Edit]:
    if isinstance(node, ast.Name) and node.id in SWAPS and isinstance(parent, ast.Call):
        yield text.replace(node, SWAPS[node.id])
    if isinstance(node, ast.Attribute) and node.attr in SWAPS:
        yield text.replace(node, f"{text.of(node.value)}.{SWAPS[node.attr]}")


def _slices(node: ast.AST, parent: ast.AST, text: Text) -> Iterator[Edit]:
    if isinstance(node, ast.Slice):
        for bound in (node.lower, node.upper, node.step):
            if bound is not None:
                yield text.replace(bound, "")


def _statements(node: ast.AST, parent: ast.AST, text: Text) -> Iterator[Edit]:
    """Statements left out. The only assignment of a local name is not: what follows could not even run."""
    if isinstance(node, ast.Expr) and not isinstance(node.value, ast.Constant | ast.Yield):
        yield text.replace(node, "pass")
    if isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign | ast.Raise | ast.For | ast.Delete):
        yield text.replace(node, "pass")
    if isinstance(node, ast.With) and all(item.optional_vars is None for item in node.items):
        yield Edit(text.span(node)[0], text.span(node.items[-1].context_expr)[1], "if True")
    if isinstance(node, ast.Break | ast.Continue):
        yield text.replace(node, "continue" if isinstance(node, ast.Break) else "break")
    for decorator in getattr(node, "decorator_list", []):
        start, end = text.span(decorator)
        yield Edit(start - 1, end, "#no decorator")


def _returns(node: ast.AST, parent: ast.AST, text: Text) -> Iterator[Edit]:
    if isinstance(node, ast.Return):
        nothing = node.value is None or (isinstance(node.value, ast.Constant) and node.value.value is None)
        yield text.replace(node, "pass" if nothing else "return None")
