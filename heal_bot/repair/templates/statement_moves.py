"""Statements moved, deleted, repeated: `return total` leaves the loop it stands in."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import pairwise

from heal_bot.repair.templates.change_tiers import Tier, assign_tiers
from heal_bot.repair.templates.mutation_context import MutationContext
from heal_bot.repair.templates.statement_insertion import (
    after,
    before,
    is_multiline,
    outdented,
    quote_head,
    step_of,
)
from heal_bot.repair.templates.target_ast import TargetAst
from heal_bot.repair.templates.text_edits import MANY, Mutation, TextEdit, is_short
from heal_bot.source import functions

_BLOCKS = (ast.For, ast.While, ast.If, ast.With, ast.Try, ast.AsyncFor, ast.AsyncWith)


def dedents(scope: MutationContext) -> Iterator[Mutation]:
    """The last statement of a block leaves it: `return total` after the loop, not inside."""
    site = scope.site
    for node in site.statements:
        blocks = functions.list_blocks(node, "orelse", "body")
        block = next((b for b in blocks if len(b) > 1), None)
        if not isinstance(node, _BLOCKS) or block is None:
            continue
        last = block[-1]
        span, step = site.whole(last), step_of(site, last, node)
        if span is None or step is None or is_multiline(last):
            continue
        otherwise = getattr(node, "orelse", None)
        if otherwise and block is not otherwise:
            continue
        moved = outdented(site, span, step)
        tier = Tier.USUAL if isinstance(last, ast.Return) else Tier.SELDOM
        why = f"{quote_head(site, last)} on line {site.line(last)} leaves its block"
        yield Mutation((TextEdit(*span, moved),), tier, site.line(last), why)


def deletions(scope: MutationContext) -> Iterator[Mutation]:
    """A statement goes; the only one of a block becomes `pass`; an `if` gives way to its body."""
    site = scope.site
    for block in site.blocks():
        for node in block:
            span = site.whole(node)
            if span is None or isinstance(node, ast.Pass | ast.Global | ast.Nonlocal):
                continue
            line = site.line(node)
            why = f"{quote_head(site, node)} on line {line} goes"
            if len(block) > 1:
                yield Mutation((TextEdit(*span, ""),), Tier.USUAL, line, why)
            elif not isinstance(node, ast.Return):
                yield site.replace(node, "pass", Tier.USUAL, why)
            if isinstance(node, ast.If | ast.While) and not node.orelse:
                yield from _unwrapped(site, node, span)


def _unwrapped(
    site: TargetAst, node: ast.If | ast.While, span: tuple[int, int]
) -> Iterator[Mutation]:
    step = step_of(site, node.body[0], node)
    if step is None or is_multiline(node) or site.whole(node.body[0]) is None:
        return
    begin = site.starts[node.body[0].lineno - 1]
    kept = outdented(site, (begin, span[1]), step)
    why = f"the body of {quote_head(site, node)} on line {site.line(node)} always runs"
    yield Mutation((TextEdit(span[0], span[1], kept),), Tier.USUAL, site.line(node), why)


def exchanges(scope: MutationContext) -> Iterator[Mutation]:
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
            tier = Tier.RARE if isinstance(other, ast.Return) else Tier.SELDOM
            tier = Tier.USUAL if _overwrites(scope, one, other) else tier
            cuts = (TextEdit(*a, second), TextEdit(*b, first))
            yield Mutation(cuts, tier, line, why)
            if isinstance(one, _BLOCKS) != isinstance(other, _BLOCKS):
                yield Mutation(cuts, Tier.SELDOM, site.line(other), why)


def _overwrites(scope: MutationContext, one: ast.stmt, other: ast.stmt) -> bool:
    """Whether a statement sets an attribute whose old value the next one was meant to read.

    In `self.since = now; lasted = now - self.since` nothing reads what the attribute was. What
    `__init__` sets had no value before.
    """
    match one, other:
        case ast.Assign(targets=[ast.Attribute() as target]), ast.Assign(value=value):
            read = [n for n in ast.walk(value) if isinstance(n, ast.BinOp)]
            sides = [ast.unparse(side) for n in read for side in (n.left, n.right)]
        case _:
            return False
    made = scope.site.function is not None and scope.site.function.name == "__init__"
    return not made and ast.unparse(target) in sides


def jumps(scope: MutationContext) -> Iterator[Mutation]:
    """`break` becomes `continue`, `return` or `pass` and the other way round."""
    site = scope.site
    words = {ast.Break: "break", ast.Continue: "continue", ast.Pass: "pass"}
    for node in site.statements:
        old = words.get(type(node))
        for new, tier in assign_tiers(("break", "continue", "pass", "return")) if old else ():
            if new != old:
                yield site.replace(node, new, tier)
        if isinstance(node, ast.Return) and any(
            isinstance(a, ast.For | ast.While) for a in scope.above(node)
        ):
            for new in ("continue", "break"):
                yield site.replace(node, new, Tier.RARE)


def copies(scope: MutationContext) -> Iterator[Mutation]:
    """A simple statement of the function is repeated before or after another."""
    site = scope.site
    simple: dict[str, ast.stmt] = {}
    for node in site.statements:
        if isinstance(node, ast.Assign | ast.AugAssign | ast.Expr | ast.Return | ast.Raise):
            code = site.segment(node)
            if is_short(code):
                simple[code] = node
    for code, origin in list(simple.items())[:MANY]:
        for anchor in site.statements:
            for put in (before, after):
                if anchor is not origin:
                    yield from put(site, anchor, (code,), Tier.USUAL)
