"""Names that are set and never read: `price, have = d[k]; d[k] = price, n` adds `have` to `n`.

A parameter or local name that nothing reads was meant to count somewhere. It is added to (2.1),
multiplied with (2.4), taken from (2.6) or a bound of (2.5) each plain operand after it; more than
three such names say nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from heal_bot.repair.templates.mutation_context import MutationContext
from heal_bot.repair.templates.text_edits import Mutation, Text, binary, call

_MOST = 3
_OTHER_KINDS = {"text", "sequence", "mapping", "set", "callable", "boolean"}


def combined(scope: MutationContext) -> Iterator[Mutation]:
    """Each unread name as one more operand of each number that may be one."""
    names = unread(scope)
    if not 0 < len(names) <= _MOST:
        return
    site = scope.site
    for node in site.nodes:
        if not _operand(scope, node):
            continue
        visible, own = scope.visible(node), site.text(node)
        for name in names:
            if name not in visible:
                continue
            other = Text(name)
            yield site.put(node, binary(other, "+", own), 2.1)
            yield site.put(node, binary(own, "*", other), 2.4)
            for word in ("min", "max"):
                yield site.put(node, call(word, own, other), 2.5)
            yield site.put(node, binary(own, "-", other), 2.6)
            yield site.put(node, binary(other, "-", own), 2.9)


def unread(scope: MutationContext) -> list[str]:
    """Names bound in the target that it never loads, those that say so by `_` left out."""
    loaded = {
        n.id for n in ast.walk(scope.site.root)
        if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Store)
    }  # fmt: skip
    names = dict.fromkeys(name for name, _, _ in scope.bindings)
    return [n for n in names if n not in loaded and n[:1] != "_" and n not in {"self", "cls"}]


def _operand(scope: MutationContext, node: ast.expr) -> bool:
    """Whether a node is a number's place: a name that is read, or an item of a container."""
    place = scope.site.places[node]
    if isinstance(place.parent, ast.Attribute) or place.field in {"func", "targets", "target"}:
        return False
    match node:
        case ast.Name(id=name, ctx=ast.Load()):
            return not scope.kinds.get(name, set()) & _OTHER_KINDS
        case ast.Subscript(ctx=ast.Load()) | ast.Attribute(ctx=ast.Load()):
            number = ast.Return | ast.Assign | ast.AugAssign | ast.BinOp | ast.Call
            return isinstance(place.parent, number)
    return False
