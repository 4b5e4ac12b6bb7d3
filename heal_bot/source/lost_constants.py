"""Constants that a module has no more, written out where code that is put back uses them."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from heal_bot.source import guard
from heal_bot.source.bound_names import all_bound, imports_of
from heal_bot.source.parsed_version import encode_lines, line_starts, splice

_VALUES = (
    ast.Constant, ast.Name, ast.Attribute, ast.UnaryOp, ast.BinOp, ast.Tuple, ast.Call, ast.keyword,
    ast.operator, ast.unaryop, ast.expr_context,
)  # fmt: skip
# Modules whose classes and functions give values that never change, and are equal made anew.
_CONSTANT = frozenset(
    ["datetime", "decimal", "fractions", "ipaddress", "math", "pathlib", "re", "string", "zoneinfo"]
)
_BUILTINS = frozenset(["bytes", "complex", "float", "frozenset", "int", "len", "str", "tuple"])
_LONGEST = 120
_ALONE = (
    ast.Constant | ast.Name | ast.Attribute | ast.Call | ast.Subscript | ast.List | ast.Dict
    | ast.Set | ast.ListComp | ast.SetComp | ast.DictComp
)  # fmt: skip


def find_lost(before: str, now: str) -> dict[str, str]:
    """The constants that a module bound once at its top, by name, and binds nowhere now."""
    bound: dict[str, list[ast.expr | None]] = {}
    for node in guard.parse(before).body:
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            target, value = node.targets[0], node.value
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            target, value = node.target, node.value
        else:
            continue
        if isinstance(target, ast.Name):
            bound.setdefault(target.id, []).append(value)
    still = all_bound(now)
    return {
        name: shown
        for name, (value, *others) in bound.items()
        if value is not None and not others and name not in still and _is_constant(value, before)
        and len(shown := _write(value, before)) <= _LONGEST
    }  # fmt: skip


def inline_constants(source: str, constants: Mapping[str, str]) -> str:
    """The source with the constants written out where it reads them and does not bind them."""
    used = constants.keys() - all_bound(source)
    if not any(name in source for name in used):
        return source
    try:
        reads = [node for node in _reads(guard.parse_part(source)) if node.id in used]
    except guard.SourceRejected:
        # A part that is put back alone need not leave code; the judge says so.
        return source
    lines = encode_lines(source)
    starts, cuts = line_starts(lines), []
    for node in reads:
        row, name, value = node.lineno - 1, node.id.encode(), constants[node.id]
        # Syntax newer than the running Python is read from another text.
        if not lines[row].startswith(name, node.col_offset):
            return source
        shown = value if stands_alone(value) else f"({value})"
        at = starts[row] + node.col_offset
        cuts.append((at, at + len(name), shown.encode()))
    return splice(b"".join(lines), cuts).decode("utf-8", "surrogatepass")


def _write(value: ast.expr, text: str) -> str:
    """An expression as it stands in its file, where that is one line."""
    stands = ast.get_source_segment(text, value) or "\n"
    return ast.unparse(value) if "\n" in stands else stands


def _is_constant(value: ast.expr, text: str) -> bool:
    """Whether an expression gives the same unchangeable value each time it is evaluated."""
    nodes = [*ast.walk(value)]
    calls = [node.func for node in nodes if isinstance(node, ast.Call)]
    return all(isinstance(node, _VALUES) for node in nodes) and all(
        _module_of(called, text) in _CONSTANT for called in calls
    )


def _module_of(called: ast.expr, text: str) -> str:
    """The module of what is called; `math` for a built-in that gives plain values."""
    while isinstance(called, ast.Attribute):
        called = called.value
    if not isinstance(called, ast.Name):
        return ""
    known = imports_of(text).get(called.id, ())
    for node, alias in known:
        return (node.module or "") if isinstance(node, ast.ImportFrom) else alias.name
    return "math" if called.id in _BUILTINS else ""


def _reads(tree: ast.AST) -> Iterator[ast.Name]:
    """The names that code reads, but for those in f-strings, whose places are not told."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            yield node
        elif not isinstance(node, ast.JoinedStr):
            yield from _reads(node)


def stands_alone(value: str) -> bool:
    """Whether an expression needs no brackets wherever it is put."""
    node = ast.parse(value, mode="eval").body
    if isinstance(node, ast.Tuple):
        # With its own brackets it may be the arguments of a call.
        return isinstance(ast.parse(f"_{value}", mode="eval").body, ast.Call)
    return isinstance(node, _ALONE)
