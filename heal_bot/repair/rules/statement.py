"""Statements moved, indented, deleted, repeated: `return total` leaves the loop it stands in.

A `return` moved out of or into a block costs 2.2, another statement 2.6; one deleted 2.8; one
moved past its neighbour 3.0; a copy of a statement elsewhere in the function 3.6.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import pairwise

from heal_bot.repair.rules.insertion import after, before
from heal_bot.repair.rules.scope import Scope
from heal_bot.repair.rules.site import Function, Site
from heal_bot.repair.rules.text import Change, Cut
from heal_bot.text import one_line

_ELSE = re.compile(rb"^[ \t]*(else[ \t]*:)", re.MULTILINE)
_BLOCKS = (ast.For, ast.While, ast.If, ast.With, ast.Try, ast.AsyncFor, ast.AsyncWith)


def _what(site: Site, node: ast.stmt) -> str:
    return one_line(site.segment(node).splitlines()[0], 60)


def _step(site: Site, inner: ast.stmt, outer: ast.stmt) -> str | None:
    """The white space that an inner block has more than the statement it belongs to."""
    deep, shallow = site.indent(inner), site.indent(outer)
    return deep[len(shallow) :] if deep.startswith(shallow) and deep != shallow else None


def _lines(site: Site, span: tuple[int, int]) -> list[str]:
    return site.source[span[0] : span[1]].decode().splitlines(keepends=True)


def _multiline_text(node: ast.stmt) -> bool:
    """Whether the statement holds text over several lines, which no indentation may touch."""
    return any(
        isinstance(n, ast.Constant | ast.JoinedStr) and n.lineno != n.end_lineno
        for n in ast.walk(node)
    )


def dedents(scope: Scope) -> Iterator[Change]:
    """The last statement of a block leaves it: `return total` after the loop, not inside."""
    site = scope.site
    for node in site.statements:
        block = next((b for b in _own_blocks(node) if len(b) > 1), None)
        if not isinstance(node, _BLOCKS) or block is None:
            continue
        last = block[-1]
        span, step = site.whole(last), _step(site, last, node)
        if span is None or step is None or _multiline_text(last):
            continue
        otherwise = getattr(node, "orelse", None)
        if otherwise and block is not otherwise:
            continue
        moved = "".join(line.removeprefix(step) if line.strip() else line
                        for line in _lines(site, span))  # fmt: skip
        cost = 2.2 if isinstance(last, ast.Return) else 2.6
        why = f"`{_what(site, last)}` on line {site.line(last)} leaves its block"
        yield Change((Cut(*span, moved),), cost, site.line(last), why)


def _own_blocks(node: ast.stmt) -> list[list[ast.stmt]]:
    found = [getattr(node, name, None) for name in ("orelse", "body")]
    return [b for b in found if isinstance(b, list) and b and isinstance(b[0], ast.stmt)]


def indents(scope: Scope) -> Iterator[Change]:
    """The statement after a block becomes its last: `count += 1` inside the `if` or loop."""
    site = scope.site
    for block in site.blocks():
        for owner, node in pairwise(block):
            if not isinstance(owner, _BLOCKS) or isinstance(owner, ast.Try):
                continue
            inner = _own_blocks(owner)[0]
            span, step = site.whole(node), _step(site, inner[-1], owner)
            if span is None or step is None or _multiline_text(node):
                continue
            if site.whole(inner[-1]) is None:
                continue
            moved = "".join(step + line if line.strip() else line for line in _lines(site, span))
            cost = 2.4 if isinstance(node, ast.Return | ast.AugAssign) else 2.8
            why = f"`{_what(site, node)}` on line {site.line(node)} joins the block before it"
            yield Change((Cut(*span, moved),), cost, site.line(node), why)


def deletions(scope: Scope) -> Iterator[Change]:
    """A statement goes; the only one of a block becomes `pass`; an `if` gives way to its body."""
    site = scope.site
    for block in site.blocks():
        for node in block:
            span = site.whole(node)
            if span is None or isinstance(node, ast.Pass | ast.Global | ast.Nonlocal):
                continue
            line = site.line(node)
            why = f"`{_what(site, node)}` on line {line} goes"
            if len(block) > 1:
                yield Change((Cut(*span, ""),), 2.8, line, why)
            elif not isinstance(node, ast.Return):
                cut = Cut(site.start(node), site.end(node), "pass")
                yield Change((cut,), 3.2, line, why)
            if isinstance(node, ast.If | ast.While) and not node.orelse:
                yield from _unwrapped(site, node, span)


def _unwrapped(site: Site, node: ast.If | ast.While, span: tuple[int, int]) -> Iterator[Change]:
    step = _step(site, node.body[0], node)
    if step is None or _multiline_text(node) or site.whole(node.body[0]) is None:
        return
    begin = site.starts[node.body[0].lineno - 1]
    kept = "".join(line.removeprefix(step) for line in _lines(site, (begin, span[1])))
    why = f"the body of `{_what(site, node)}` on line {site.line(node)} always runs"
    yield Change((Cut(span[0], span[1], kept),), 3.0, site.line(node), why)


def exchanges(scope: Scope) -> Iterator[Change]:
    """Two neighbouring statements change places."""
    site = scope.site
    for block in site.blocks():
        for one, other in pairwise(block):
            a, b = site.whole(one), site.whole(other)
            if a is None or b is None or isinstance(other, ast.FunctionDef):
                continue
            if isinstance(one, ast.Return | ast.Raise | ast.Continue | ast.Break | ast.FunctionDef):
                continue
            first = site.source[a[0] : a[1]].decode()
            second = site.source[b[0] : b[1]].decode()
            if not second.endswith("\n"):
                first, second = first.removesuffix("\n"), second + "\n"
            line = site.line(one)
            why = f"lines {line} and {site.line(other)} change places"
            cost = 2.8 if not isinstance(other, ast.Return) else 3.4
            cuts = (Cut(*a, second), Cut(*b, first))
            yield Change(cuts, cost, line, why)
            if isinstance(one, _BLOCKS) != isinstance(other, _BLOCKS):
                yield Change(cuts, 2.8, site.line(other), why)


def into_else(scope: Scope) -> Iterator[Change]:
    """What follows an `if` becomes its `else`, `elif` becomes `if` and the other way round: 2.8."""
    site = scope.site
    for block in site.blocks():
        for one, other in pairwise(block):
            if isinstance(one, ast.If) and isinstance(other, ast.If) and not one.orelse:
                begin, line = site.start(other), site.line(other)
                if site.whole(other):
                    why = f"`if` becomes `elif` on line {line}"
                    yield Change((Cut(begin, begin + 2, "elif"),), 2.4, line, why)
            span = site.whole(other)
            if not isinstance(one, ast.If) or one.orelse or span is None:
                continue
            step, indent = _step(site, one.body[0], one), site.indent(one)
            if step is None or _multiline_text(other):
                continue
            inner = "".join(step + x if x.strip() else x for x in _lines(site, span))
            why = f"line {site.line(other)} runs only when line {site.line(one)} does not hold"
            where = Cut(*span, f"{indent}else:\n{inner}")
            yield Change((where,), 3.0, site.line(other), why)
    for node in site.statements:
        if isinstance(node, ast.If) and site.source[site.start(node) :][:4] == b"elif":
            begin, line = site.start(node), site.line(node)
            why = f"`elif` becomes `if` on line {line}"
            yield Change((Cut(begin, begin + 4, "if"),), 2.4, line, why)


def last_branches(scope: Scope) -> Iterator[Change]:
    """The `else` of a comparison runs only when the opposite holds: `elif a > b` after `a < b`."""
    site = scope.site
    for node in site.statements:
        match node:
            case ast.If(
                test=ast.Compare(left=left, ops=[ast.Lt() | ast.Gt() as sign], comparators=[right]),
                body=[*_, last],
                orelse=[first, *_],
            ):
                between = site.source[site.end(last) : site.start(first)]
            case _:
                continue
        found = _ELSE.search(between)
        if found is None:
            continue
        word = ">" if isinstance(sign, ast.Lt) else "<"
        condition = f"elif {site.segment(left)} {word} {site.segment(right)}:"
        at = site.end(last) + found.start(1)
        # No test executes the line of an `else`.
        line = site.line(first)
        why = f"`else` becomes `{condition[:-1]}` before line {line}"
        yield Change((Cut(at, at + len(found[1]), condition),), 2.4, line, why)


def jumps(scope: Scope) -> Iterator[Change]:
    """`break` becomes `continue`, `return` or `pass` and the other way round: 1.6 to 2.6."""
    site = scope.site
    words = {ast.Break: "break", ast.Continue: "continue", ast.Pass: "pass"}
    for node in site.statements:
        old = words.get(type(node))
        if old is None:
            continue
        for new, cost in (("break", 1.6), ("continue", 1.6), ("pass", 2.4), ("return", 2.6)):
            if new != old:
                line = site.line(node)
                cut = Cut(site.start(node), site.end(node), new)
                yield Change((cut,), cost, line, f"`{old}` becomes `{new}` on line {line}")
    for node in site.statements:
        match node:
            case ast.Return() if any(isinstance(a, ast.For | ast.While) for a in scope.above(node)):
                for new in ("continue", "break"):
                    cut = Cut(site.start(node), site.end(node), new)
                    line = site.line(node)
                    why = f"`{_what(site, node)}` becomes `{new}` on line {line}"
                    yield Change((cut,), 2.8, line, why)


def copies(scope: Scope) -> Iterator[Change]:
    """A simple statement of the function is repeated before or after another: 3.6."""
    site = scope.site
    simple: dict[str, ast.stmt] = {}
    for node in site.statements:
        if isinstance(node, ast.Assign | ast.AugAssign | ast.Expr | ast.Return | ast.Raise):
            code = site.segment(node)
            if "\n" not in code and len(code) < 90:
                simple[code] = node
    for code, origin in list(simple.items())[:25]:
        for anchor in site.statements:
            for put in (before, after):
                if anchor is not origin:
                    change = put(site, anchor, (code,), 3.6)
                    if change:
                        yield change


def twins(scope: Scope) -> Iterator[Change]:
    """A statement is repeated for another name: `check(target)` after `check(source)`, 3.0.

    The names are parameters or come from the same loop, and those of a pair also change places.
    """
    site = scope.site
    function = site.function
    if function is None:
        return
    for node in site.statements:
        code = site.segment(node)
        alone = isinstance(node, ast.Expr | ast.Assign | ast.AugAssign)
        if not alone or "\n" in code or len(code) > 90:
            continue
        own = dict.fromkeys(n.id for n in ast.walk(node) if isinstance(n, ast.Name))
        names = [n for n in scope.visible(node) if n in _given(site, node, function)]
        plain = ast.unparse(node)
        for one in (n for n in names if n in own):
            for other in (n for n in names if n != one and scope.clash(one, n) < 1):
                twin = _renamed(plain, {one: other, other: one})
                if twin == plain:
                    continue
                for put in (after, before):
                    change = put(site, node, (twin,), 3.0)
                    if change:
                        yield change


def _given(site: Site, node: ast.stmt, function: Function) -> set[str]:
    """The parameters of a function, and the names that the loops around a statement bind."""
    spec = function.args
    found = {a.arg for a in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs)} - {"self", "cls"}
    place = site.places.get(node)
    while place is not None:
        if isinstance(place.parent, ast.For | ast.AsyncFor):
            found |= {n.id for n in ast.walk(place.parent.target) if isinstance(n, ast.Name)}
        place = site.places.get(place.parent)
    return found


def _renamed(code: str, names: dict[str, str]) -> str:
    """A statement with other names."""
    copy = ast.parse(code)
    for name in ast.walk(copy):
        if isinstance(name, ast.Name):
            name.id = names.get(name.id, name.id)
    return ast.unparse(copy)
