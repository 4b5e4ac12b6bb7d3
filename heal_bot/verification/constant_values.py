"""Constants as they are meant: `16 + 1`, `17.0` and `int("17")` are all 17."""

from __future__ import annotations

import ast
import contextlib
import operator
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from heal_bot.ports import Tree
from heal_bot.source import guard
from heal_bot.verification.tamper_evidence import Function

_PREPARES = frozenset({"setUp", "setup_method"})
# Constants that say nothing: they occur in any code and in any test.
_COMMON = (None, True, False, "", 0, 1, -1, 2, 10, 100, 0.0, 1.0, 0.5, " ", ",", "\n")
_MOST = 10**12
_LONGEST = 10_000
_BINARY: Mapping[type[ast.operator], Callable[[Any, Any], object]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.BitXor: operator.xor,
    ast.BitOr: operator.or_,
    ast.LShift: operator.lshift,
    ast.Pow: operator.pow,
}
_GROWING = ast.LShift | ast.Pow
_CALLS: Mapping[str, Callable[[Any], object]] = {
    "int": int,
    "float": float,
    "str": str,
    "len": len,
    "ord": ord,
    "chr": chr,
    "abs": abs,
    "sum": sum,
    "tuple": tuple,
    "list": list,
}


class NotConstant(Exception):
    """An expression whose value is not written down."""


def fold_number(node: ast.expr) -> float | None:
    """The number an expression is, if it is one."""
    try:
        value = fold_value(node)
    except NotConstant:
        return None
    return value if isinstance(value, int | float) and abs(value) < _MOST else None


def fold_value(node: ast.expr) -> object:
    """What is written down, computed, if it cannot grow large; NotConstant for anything else."""
    try:
        return _fold(node)
    except (ArithmeticError, TypeError, ValueError, RecursionError) as error:
        raise NotConstant from error


def _fold(node: ast.expr) -> object:
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Tuple | ast.List | ast.Set):
        return [_fold(item) for item in node.elts]
    if isinstance(node, ast.Dict) and None not in node.keys:
        items = (*node.keys, *node.values)
        return [_fold(item) for item in items if item is not None]
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        value = _fold(node.operand)
        if isinstance(value, int | float):
            return -value
    if isinstance(node, ast.BinOp):
        return _compute(node)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
        call = _CALLS.get(node.func.id)
        if call is not None and len(node.args) == 1:
            return call(_small(_fold(node.args[0])))
    raise NotConstant


def _compute(node: ast.BinOp) -> object:
    left, right = _small(_fold(node.left)), _small(_fold(node.right))
    compute = _BINARY.get(type(node.op))
    growing = isinstance(node.op, _GROWING)
    if compute is None or (growing and not (isinstance(right, int) and 0 <= right <= 16)):
        raise NotConstant
    if isinstance(node.op, ast.Mult | ast.Mod) and not _are_numbers(left, right):
        raise NotConstant
    return compute(left, right)


def _are_numbers(*values: object) -> bool:
    return all(isinstance(value, int | float) for value in values)


def _small(value: object) -> object:
    if isinstance(value, int | float) and abs(value) > _MOST:
        raise NotConstant
    if isinstance(value, str | bytes | list) and len(value) > _LONGEST:
        raise NotConstant
    return value


def find_constants(node: ast.AST | None) -> set[str]:
    """The telling constants below a node, written the same way whatever way they are spelt."""
    found: set[str] = set()
    for child in ast.walk(node) if node is not None else ():
        if isinstance(child, ast.expr) and not isinstance(child, ast.List | ast.Tuple | ast.Dict):
            found |= keys_of_value(child)
    return found


def keys_of_value(node: ast.expr | None) -> set[str]:
    """The telling constants an expression comes to; none unless all of it is written down."""
    if node is None:
        return set()
    try:
        value = fold_value(node)
    except NotConstant:
        return set()
    waiting, found = [value], set[str]()
    while waiting:
        value = waiting.pop()
        if isinstance(value, list | tuple):
            waiting.extend(value)
        elif isinstance(value, int | float | str | bytes) and value not in _COMMON:
            found.add(_key(value))
    return found


def _key(value: float | str | bytes) -> str:
    """How a constant is written: whole numbers as integers, also where they are text or float."""
    if isinstance(value, float) and value.is_integer() and abs(value) < _MOST:
        return str(int(value))
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 10:
        return str(int(value))
    return repr(value)


def find_names(node: ast.AST) -> set[str]:
    """The names below a node."""
    return {child.id for child in ast.walk(node) if isinstance(child, ast.Name)}


def find_test_constants(tests: Iterable[str], tree: Tree) -> frozenset[str]:
    """The constants of tests: of their functions, decorators, and names of their files.

    Those are constants, fixtures and helpers beside a test, one step away. The cases of a test are
    one function, and a file is parsed once, not for each of them.
    """
    wanted: dict[str, dict[str, None]] = {}
    for test in tests:
        path, _, rest = test.partition("::")
        wanted.setdefault(path, {})[rest.partition("[")[0]] = None
    held: set[str] = set()
    for path, names_of in wanted.items():
        with contextlib.suppress(KeyError, guard.SourceRejected):
            module = guard.parse(guard.check_text(tree.read(path)))
            held.update(*(_of_test(module, name.split("::")) for name in names_of))
    return frozenset(held)


def _of_test(module: ast.Module, parts: list[str]) -> frozenset[str]:
    found = _function(module, parts)
    if found is None:
        return frozenset()
    used = find_names(found) | {
        child.arg for child in ast.walk(found) if isinstance(child, ast.arg)
    }
    held = find_constants(found)
    for statement in module.body:
        if statement is not found and _binds(statement) & used:
            held |= find_constants(statement)
    return frozenset(held)


def _function(module: ast.Module, parts: list[str]) -> ast.AST | None:
    """The function of a test; of a method also what its class binds and prepares."""
    for node in module.body:
        if isinstance(node, Function) and [node.name] == parts:
            return node
        if isinstance(node, ast.ClassDef) and node.name == parts[0]:
            wanted = {*_PREPARES, parts[-1]}
            own = [c for c in node.body if not isinstance(c, Function) or c.name in wanted]
            around: list[ast.stmt] = [ast.Expr(value) for value in node.decorator_list]
            return ast.Module(body=[*around, *own], type_ignores=[])
    return None


def _binds(statement: ast.stmt) -> set[str]:
    """The names a statement of a module binds."""
    if isinstance(statement, Function):
        return {statement.name}
    if isinstance(statement, ast.Assign | ast.AnnAssign):
        stored = (n for n in ast.walk(statement) if isinstance(n, ast.Name))
        return {name.id for name in stored if isinstance(name.ctx, ast.Store)}
    return set()
