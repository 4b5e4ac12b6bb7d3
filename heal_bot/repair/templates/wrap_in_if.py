"""A statement that should run only sometimes: `count += 1` becomes `if not seen: count += 1`.

The condition is about what the statement takes in (`if x not in out: out.append(x)`), a flag that
the function sets or reads, a name of the statement, or a condition written elsewhere.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from heal_bot.repair.templates.change_tiers import Tier
from heal_bot.repair.templates.mutation_context import MutationContext
from heal_bot.repair.templates.off_by_one import shifted
from heal_bot.repair.templates.statement_insertion import under
from heal_bot.repair.templates.target_ast import TargetAst
from heal_bot.repair.templates.text_edits import COMPARE, FEW, Mutation, Text, binary, is_short

_SIMPLE = ast.Assign | ast.AugAssign | ast.Expr | ast.Delete | ast.Return | ast.Break | ast.Continue
_TAKING = {"append", "add", "insert", "remove", "discard"}
# What stands beside a comparison without brackets.
_SIDE = COMPARE + 1


def conditions(scope: MutationContext) -> Iterator[Mutation]:
    """A condition around every simple statement but the last `return`."""
    site, function = scope.site, scope.site.function
    if function is None:
        return
    flags, asked = _flags(scope), _asked(scope)
    for node in site.statements:
        last = isinstance(node, ast.Return) and node is function.body[-1]
        if not isinstance(node, _SIMPLE) or last or _has_one(site, node) or scope.begins(node):
            continue
        visible = {*scope.visible(node), "self", "cls", "len"}
        usual = (*_rounds(scope, node), *_taken(site, node), *flags)
        for condition in dict.fromkeys((*usual, *_named(scope, node), *asked)):
            if _read(condition) <= visible:
                yield from under(site, node, condition, Tier(condition not in usual))


def _read(condition: str) -> set[str]:
    """The names that a condition reads."""
    return {n.id for n in ast.walk(ast.parse(condition)) if isinstance(n, ast.Name)}


def _has_one(site: TargetAst, node: ast.stmt) -> bool:
    """Whether a statement is all that an `if` is for: its condition is widened elsewhere."""
    parent = site.places[node].parent
    return isinstance(parent, ast.If) and parent.body == [node] and not parent.orelse


def _taken(site: TargetAst, node: ast.stmt) -> Iterator[str]:
    """Whether something holds already what a statement puts into it, or takes out."""
    match node:
        case ast.Expr(
            value=ast.Call(func=ast.Attribute(value=into, attr=attr), args=[value], keywords=[])
        ) if attr in _TAKING and _is_plain(value) and _is_plain(into):
            new, held = site.segment(value), site.segment(into)
            yield from (f"{new} not in {held}", f"{new} in {held}", new, f"{new} is not None")
        case (
            ast.Assign(targets=[ast.Subscript(value=into, slice=key)])
            | ast.Delete(targets=[ast.Subscript(value=into, slice=key)])
        ) if _is_plain(key) and _is_plain(into):
            yield f"{site.segment(key)} not in {site.segment(into)}"
            yield f"{site.segment(key)} in {site.segment(into)}"


def _rounds(scope: MutationContext, node: ast.stmt) -> Iterator[str]:
    """Whether it is the first or the last round of the counted loops around a statement."""
    site = scope.site
    for loop in scope.above(node):
        if not isinstance(loop, ast.For):
            continue
        match loop.target, loop.iter:
            case ast.Name(id=name), ast.Call(func=ast.Name(id="range"), args=[stop]):
                counted, first, last = [stop], Text("0"), shifted(site, stop, -1)
            case ast.Name(id=name), ast.Call(func=ast.Name(id="range"), args=[start, stop]):
                counted, first, last = [start, stop], site.text(start), shifted(site, stop, -1)
            case (
                ast.Tuple(elts=[ast.Name(id=name), _]),
                ast.Call(func=ast.Name(id="enumerate"), args=[values], keywords=[]),
            ) if _is_plain(values):
                length = Text(f"len({site.segment(values)})")
                counted, first, last = [], Text("0"), binary(length, "-", Text("1"))
            case _:
                continue
        if all(map(_is_steady, counted)):
            yield f"{name} < {last.at(_SIDE)}"
            yield f"{name} > {first.at(_SIDE)}"


def _is_steady(node: ast.expr) -> bool:
    """Whether to work a value out in every round changes nothing and gives the same."""
    return all(map(_gives_the_same, ast.walk(node)))


def _gives_the_same(node: ast.AST) -> bool:
    match node:
        case ast.Call(func=ast.Name(id="len"), args=[only], keywords=[]):
            return _is_plain(only)
        case ast.Call() | ast.NamedExpr() | ast.Await() | ast.Yield() | ast.YieldFrom():
            return False
    return not isinstance(node, ast.Starred)


def _is_plain(node: ast.expr) -> bool:
    """Whether to ask for a value once more costs nothing and changes nothing, in any place."""
    match node:
        case ast.Name() | ast.Constant():
            return True
        case ast.Attribute(value=inner) | ast.Subscript(value=inner, slice=ast.Constant()):
            return _is_plain(inner)
        case ast.Subscript(value=inner, slice=ast.Name()):
            return _is_plain(inner)
        case ast.Tuple(elts=parts):
            return bool(parts) and all(map(_is_plain, parts))
    return False


def _flags(scope: MutationContext) -> list[str]:
    """Attributes and names that the function or its siblings set to True or False."""
    found: dict[str, None] = {}
    for tree in (scope.site.root, *scope.around.siblings):
        for node in ast.walk(tree):
            match node:
                case ast.Assign(
                    targets=[ast.Name() | ast.Attribute(value=ast.Name()) as target],
                    value=ast.Constant(value=bool()),
                ):
                    found[ast.unparse(target)] = None
    codes = list(found)[:FEW]
    return [*(f"not {code}" for code in codes), *codes]


def _named(scope: MutationContext, node: ast.stmt) -> list[str]:
    """Whether the names of a statement hold something."""
    loaded = (n for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load))
    ids = dict.fromkeys(n.id for n in loaded if n.id not in {"self", "cls"})
    names = [name for name in ids if "callable" not in scope.kinds.get(name, set())]
    return [ask.format(name) for ask in ("{}", "{} is not None", "not {}") for name in names]


def _asked(scope: MutationContext) -> list[str]:
    """Conditions that the function and its siblings ask."""
    found: dict[str, None] = {}
    for tree in (scope.site.root, *scope.around.siblings):
        for node in ast.walk(tree):
            if isinstance(node, ast.If | ast.While | ast.IfExp):
                code = ast.unparse(node.test)
                if is_short(code):
                    found[code] = None
    return list(found)[:FEW]
