"""Functions made in a loop that see its last round: `lambda x: x + i` gets `i=i`.

All of a loop change at once; one of several alone, which leaves the others as they are, is rare.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from heal_bot.repair.templates.change_tiers import Tier
from heal_bot.repair.templates.mutation_context import COMPREHENSIONS, MutationContext
from heal_bot.repair.templates.text_edits import Mutation, TextEdit
from heal_bot.source.definitions import Function


def closures(scope: MutationContext) -> Iterator[Mutation]:
    """A function made in a loop keeps the loop's value of its own round as a default."""
    site = scope.site
    found: dict[int, list[Mutation]] = {}
    for node in (*site.nodes, *site.statements):
        if isinstance(node, ast.Lambda | Function) and node is not site.root:
            loop, names = _looped(scope, node)
            change = _bound(scope, node, names) if names else None
            if change is not None:
                found.setdefault(id(loop), []).append(change)
    for changes in found.values():
        if len(changes) > 1:
            cuts = tuple(cut for change in changes for cut in change.cuts)
            warm = max(changes, key=lambda change: site.near(change.line) or 0)
            why = f"{len(changes)} functions keep the values of their round"
            yield Mutation(cuts, Tier.USUAL, warm.line, why)
        for change in changes:
            yield replace(change, tier=Tier.USUAL if len(changes) == 1 else Tier.RARE)


def _bound(
    scope: MutationContext, node: ast.Lambda | Function, names: list[str]
) -> Mutation | None:
    """A function with defaults for those of the names that it reads."""
    args = node.args
    if args.vararg or args.kwonlyargs or args.kwarg:
        return None
    inside = [n for n in ast.walk(node) if isinstance(n, ast.Name)]
    own = {a.arg for a in (*args.posonlyargs, *args.args)}
    own |= {n.id for n in inside if isinstance(n.ctx, ast.Store)}
    read = {n.id for n in inside} - own
    kept = [name for name in names if name in read]
    site = scope.site
    begin = site.starts[node.lineno - 1] + node.col_offset
    cut = _parameters(site.source, node, begin, kept) if kept else None
    if cut is None:
        return None
    line = site.line(node)
    why = f"the function on line {line} keeps `{cut.text.strip(' ,')}`"
    return Mutation((cut,), Tier.USUAL, line, why)


def _looped(
    scope: MutationContext, node: ast.Lambda | Function
) -> tuple[ast.AST | None, list[str]]:
    """The innermost loop around a node, and the names that loops bind or set before it."""
    loop: ast.AST | None = None
    targets: list[ast.expr] = []
    for above in scope.above(node):
        if isinstance(above, Function | ast.Lambda):
            break
        if isinstance(above, ast.For | ast.AsyncFor):
            inside = (n for s in above.body for n in ast.walk(s) if isinstance(n, ast.Assign))
            targets.append(above.target)
            targets += [t for n in inside if n.lineno < node.lineno for t in n.targets]
        elif isinstance(above, COMPREHENSIONS):
            targets += [generator.target for generator in above.generators]
        else:
            continue
        loop = loop or above
    names = (n for target in targets for n in ast.walk(target) if isinstance(n, ast.Name))
    return loop, list(dict.fromkeys(n.id for n in names if isinstance(n.ctx, ast.Store)))


def _parameters(
    source: bytes, node: ast.Lambda | Function, begin: int, names: list[str]
) -> TextEdit | None:
    """Where the parameters of a one-line head end, and the defaults that go there."""
    some = bool(node.args.posonlyargs or node.args.args)
    if isinstance(node, ast.Lambda):
        at, opened = _colon(source, begin), begin
        lead = ", " if some else " "
    else:
        opened = source.find(b"(", begin)
        line = source[opened : source.find(b"\n", opened)]
        single = opened >= 0 and line.count(b"(") == line.count(b")") == 1
        at, lead = opened + line.find(b")") if single else -1, ", " if some else ""
    if at < 0:
        return None
    # A comma at the end is there already.
    lead = " " if source[opened:at].rstrip().endswith(b",") else lead
    return TextEdit(at, at, lead + ", ".join(f"{name}={name}" for name in names))


def _colon(source: bytes, begin: int) -> int:
    """The byte of the colon after a lambda's parameters; -1 where they are no plain names."""
    at = source.find(b":", begin)
    return at if at >= 0 and not set(source[begin:at]) & set(b"=\n({[") else -1
