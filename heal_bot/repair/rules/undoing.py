"""What a function has to take back: `path.append(name)` before it calls itself, `path.pop()` after.

A container of the caller that grows before a recursion and never shrinks, and a number that is
counted up: 2.2 after the last recursion of the block, 2.6 as its last statement. What follows a
`yield` in a context manager runs after an exception too (1.9), as does the second of a pair such
as `acquire` and `release` (2.4).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TypeGuard

from heal_bot.repair.rules.indentation import indented, is_multiline
from heal_bot.repair.rules.insertion import after, newline
from heal_bot.repair.rules.scope import Scope
from heal_bot.repair.rules.site import Function, Site
from heal_bot.repair.rules.text import Change, Cut

_JUMPS = ast.Return | ast.Break | ast.Continue
_AFTER, _LAST = 2.2, 2.6
_MANAGER, _PAIR = 1.9, 2.4
_BACK = {"append": "pop()", "add": "discard({})", "appendleft": "popleft()"}
_PAIRS = {"acquire": "release", "open": "close", "start": "stop", "enter": "exit",
          "lock": "unlock", "push": "pop", "append": "pop", "connect": "close", "begin": "end",
          "add": "discard", "enable": "disable"}  # fmt: skip
# A pair farther apart is seldom one.
_NEAR = 12
_MANAGERS = frozenset({"contextmanager", "asynccontextmanager", "fixture"})


def backtracks(scope: Scope) -> Iterator[Change]:
    """What a recursion found in its way is gone after it."""
    site, function = scope.site, scope.site.function
    if function is None:
        return
    taken = {ast.unparse(n.func) for n in site.nodes if isinstance(n, ast.Call)}
    for block in site.blocks():
        for at, statement in enumerate(block):
            back, undone = _back(statement)
            if not back or undone in taken:
                continue
            name = _around(scope, statement) or function.name
            later = [s for s in block[at + 1 :] if _recurs(s, name)]
            for anchor, cost in {block[-1]: _LAST, later[-1]: _AFTER}.items() if later else ():
                if isinstance(anchor, ast.Return | ast.Raise):
                    continue
                change = after(site, anchor, (back,), cost)
                if change:
                    yield change


def _back(statement: ast.stmt) -> tuple[str, str]:
    """The statement that takes another one back, and what it would call; '' where there is none."""
    match statement:
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=into, attr=attr), args=[value])):
            if attr in _BACK:
                code = f"{ast.unparse(into)}.{_BACK[attr].format(ast.unparse(value))}"
                return code, code.partition("(")[0]
        case ast.AugAssign(op=ast.Add() | ast.Sub() as sign, target=target, value=value):
            other = "-=" if isinstance(sign, ast.Add) else "+="
            return f"{ast.unparse(target)} {other} {ast.unparse(value)}", ""
    return "", ""


def _around(scope: Scope, statement: ast.stmt) -> str:
    """The name of the innermost function around a statement."""
    inner = (a.name for a in scope.above(statement) if isinstance(a, Function))
    return next(inner, "")


def _recurs(statement: ast.stmt, name: str) -> bool:
    """Whether a statement calls the function that it is in."""
    for node in ast.walk(statement):
        match node:
            case ast.Call(func=ast.Name(id=called) | ast.Attribute(
                value=ast.Name(id="self" | "cls"), attr=called
            )) if called == name:  # fmt: skip
                return True
    return False


def finally_done(scope: Scope) -> Iterator[Change]:
    """What has to happen in any case moves into `finally`."""
    site, function = scope.site, scope.site.function
    if function is None:
        return
    managed = any(_word(mark) in _MANAGERS for mark in function.decorator_list)
    for block in site.blocks():
        for at, statement in enumerate(block[:-1]):
            if managed and isinstance(statement, ast.Expr | ast.Assign) and _yields(statement):
                yield from _in_finally(site, block[at : at + 1], block[at + 1 :], _MANAGER)
            for end in range(at + 2, min(at + _NEAR, len(block))):
                if _is_pair(statement, block[end]) and not _set_between(block[at:end]):
                    yield from _in_finally(site, block[at + 1 : end], block[end : end + 1], _PAIR)


def _word(mark: ast.expr) -> str:
    head = mark.func if isinstance(mark, ast.Call) else mark
    return head.attr if isinstance(head, ast.Attribute) else getattr(head, "id", "")


def _yields(statement: ast.Expr | ast.Assign) -> bool:
    return isinstance(statement.value, ast.Yield)


def _is_pair(one: ast.stmt, other: ast.stmt) -> bool:
    """Whether the second statement takes back what the first one did."""
    last = _called(other)
    match one, other:
        case ast.Expr(), ast.Expr():
            first = _called(one)
            if first is None or last is None:
                return False
            same = ast.unparse(first.value) == ast.unparse(last.value)
            return same and _PAIRS.get(first.attr) == last.attr
        case ast.Assign(targets=[target]), ast.Expr():
            first = _called(one)
            did = first.attr if first is not None else getattr(_function(one), "id", "")
            kept = last is not None and ast.unparse(target) == ast.unparse(last.value)
            return kept and last is not None and _PAIRS.get(did) == last.attr
        case ast.AugAssign(op=ast.Add()), ast.AugAssign(op=ast.Sub()):
            return ast.unparse(one.target) == ast.unparse(other.target)
    return False


def _set_between(block: list[ast.stmt]) -> bool:
    """Whether what the first statement set is set again by those that follow."""
    names = {n.id for n in ast.walk(block[0]) if _is_stored(n)}
    later = (n for statement in block[1:] for n in ast.walk(statement))
    return any(n.id in names for n in later if _is_stored(n))


def _is_stored(node: ast.AST) -> TypeGuard[ast.Name]:
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)


def _called(statement: ast.stmt) -> ast.Attribute | None:
    """The method that a statement calls, awaited or not."""
    function = _function(statement)
    return function if isinstance(function, ast.Attribute) else None


def _function(statement: ast.stmt) -> ast.expr | None:
    """What a statement calls, awaited or not."""
    value = getattr(statement, "value", None)
    call = value.value if isinstance(value, ast.Await) else value
    return call.func if isinstance(call, ast.Call) else None


def _in_finally(
    site: Site, tried: list[ast.stmt], always: list[ast.stmt], cost: float
) -> Iterator[Change]:
    """The statements in a `try`, and those that follow in its `finally`."""
    spans = [site.whole(statement) for statement in (*tried, *always)]
    if any(span is None for span in spans) or any(map(is_multiline, (*tried, *always))):
        return
    # A jump in `finally` swallows the exception.
    if any(isinstance(node, _JUMPS) for statement in always for node in ast.walk(statement)):
        return
    begin = site.starts[tried[0].lineno - 1]
    middle = site.starts[always[0].lineno - 1]
    stop = spans[-1][1] if spans[-1] is not None else middle
    indent, end = site.indent(tried[0]), newline(site)
    step = "\t" if "\t" in indent else "    "
    body, rest = indented(site, (begin, middle), step), indented(site, (middle, stop), step)
    text = f"{indent}try:{end}{body}{indent}finally:{end}{rest}"
    why = f"what line {site.line(always[0])} does happens after an exception too"
    # The test that needs it leaves before it comes there.
    yield Change((Cut(begin, stop, text),), cost, site.line(tried[0]), why)
