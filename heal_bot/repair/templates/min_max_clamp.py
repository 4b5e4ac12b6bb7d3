"""The larger or smaller of two values: `span.last` becomes `max(previous.last, span.last)`.

The other value is the same attribute of another name (1.9), a number in scope (3.4), 0 below a
difference (2.4), or the last index of a container above an index (2.2 where one was out of range).
The first and the last of values that nothing sorted become the least and the greatest: `xs[0]` and
`xs[-1]` to `min(xs)` and `max(xs)`, 2.2.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from heal_bot.repair.templates.mutation_context import MutationContext
from heal_bot.repair.templates.text_edits import Mutation, Text, TextEdit

_SAME, _BELOW, _NUMBER, _INDEX = 1.9, 2.4, 3.4, 2.2
_ENDS = 2.2
_NAMES, _OWNERS = 6, 3
_FUNCTIONS = ("max", "min")


def bounded(scope: MutationContext) -> Iterator[Mutation]:
    """`max` or `min` of a value and of another one of its kind."""
    site = scope.site
    owners, measured = _owners(scope), _measured(scope)
    for node in site.nodes:
        if not _is_taken(scope, node):
            continue
        match node:
            case ast.Attribute(value=ast.Name(id=owner), attr=attr):
                known = {*scope.visible(node), "self"}
                for name in [n for n in owners if n != owner and n in known][:_OWNERS]:
                    yield from _both(scope, node, f"{name}.{attr}", _SAME)
            case ast.Name(id=name) if "number" in scope.kinds.get(name, set()):
                for other in scope.visible(node)[:_NAMES]:
                    if other != name and "number" in scope.kinds.get(other, set()):
                        yield from _both(scope, node, other, _NUMBER)
            case ast.BinOp() | ast.Call(func=ast.Name(id="int" | "round"), args=[_]):
                yield from _clamped(scope, node, measured)


def _clamped(scope: MutationContext, node: ast.expr, measured: list[str]) -> Iterator[Mutation]:
    """A result that may not be negative, or not beyond a container or a number."""
    code = scope.site.text(node).at(1)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub):
        yield scope.site.put(node, Text(f"max(0, {code})"), _BELOW)
    outside = 0.0 if "IndexError" in scope.evidence.kinds else 0.8
    for held in measured:
        yield scope.site.put(node, Text(f"min({code}, len({held}) - 1)"), _INDEX + outside)
    for name in scope.visible(node)[:_NAMES]:
        if "number" in scope.kinds.get(name, set()):
            yield from _both(scope, node, name, _NUMBER)


def _both(scope: MutationContext, node: ast.expr, other: str, cost: float) -> Iterator[Mutation]:
    code = scope.site.text(node).at(1)
    for rank, function in enumerate(_FUNCTIONS):
        yield scope.site.put(node, Text(f"{function}({other}, {code})"), cost + 0.1 * rank)


def _owners(scope: MutationContext) -> list[str]:
    """The names that attributes are read from; their values may be of one class."""
    read = dict.fromkeys(
        n.value.id for n in scope.site.each(ast.Attribute) if isinstance(n.value, ast.Name)
    )
    return [name for name in read if name != "self" or scope.receiver() == "self"]


def _measured(scope: MutationContext) -> list[str]:
    """What the function and its siblings take the length of, where it can be named here."""
    found: dict[str, None] = {}
    known = {*scope.visible(scope.site.root), "self"}
    for tree in (scope.site.root, *scope.around.siblings):
        for node in ast.walk(tree):
            match node:
                case ast.Call(func=ast.Name(id="len"), args=[ast.Name(id=name)]) if name in known:
                    found[name] = None
                case ast.Call(
                    func=ast.Name(id="len"), args=[ast.Attribute(value=ast.Name(id="self"))]
                ) if scope.receiver() == "self":
                    found[ast.unparse(node.args[0])] = None
    return list(found)[:4]


def _is_taken(scope: MutationContext, node: ast.expr) -> bool:
    """Whether a value is kept, returned, passed on or an index, and not bounded already."""
    place = scope.site.places[node]
    if isinstance(getattr(node, "ctx", None), ast.Store | ast.Del):
        return False
    match place.parent:
        case ast.Call(func=ast.Name(id=name)) if name in {*_FUNCTIONS, "len", "isinstance"}:
            return False
        case ast.Call():
            return place.field == "args"
        case ast.Assign() | ast.Return() | ast.keyword() | ast.Yield():
            return place.field == "value"
        case ast.Slice():
            return True
        case ast.Tuple() | ast.List() as several:
            # Not the classes that `except` and `isinstance` name.
            return isinstance(scope.site.places[several].parent, ast.Return | ast.Assign)
        case ast.Subscript():
            return place.field == "slice"
    return False


def ends(scope: MutationContext) -> Iterator[Mutation]:
    """Both ends of a list become its extremes, all of them in a function at once."""
    site = scope.site
    found: dict[str, list[TextEdit]] = {}
    lines: dict[str, int] = {}
    for node in site.nodes:
        match node:
            case ast.Subscript(
                value=ast.Name(id=name), slice=ast.Constant(value=0), ctx=ast.Load()
            ):
                function = "min"
            case ast.Subscript(
                value=ast.Name(id=name),
                slice=ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=1)),
                ctx=ast.Load(),
            ):
                function = "max"
            case _:
                continue
        cut = TextEdit(site.start(node), site.end(node), f"{function}({name})")
        found.setdefault(name, []).append(cut)
        lines.setdefault(name, site.line(node))
    for name, cuts in found.items():
        # One end alone is what a stack or a queue is asked for.
        if len({cut.text for cut in cuts}) < 2:
            continue
        why = f"the ends of `{name}` become its extremes"
        yield Mutation(tuple(cuts), _ENDS, lines[name], why)
