"""Branches of an `if`: what an `else` holds, and what follows the `if` without one.

What follows becomes the `else` (3.0), `if` becomes `elif` and the other way round (2.4), what an
`else` holds follows (2.6), and the `else` of a comparison becomes its opposite (2.4).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import pairwise

from heal_bot.repair.templates.mutation_context import MutationContext
from heal_bot.repair.templates.statement_insertion import (
    indented,
    is_multiline,
    newline,
    outdented,
    step_of,
)
from heal_bot.repair.templates.target_ast import TargetAst
from heal_bot.repair.templates.text_edits import Mutation, TextEdit

# Also what is said behind it.
_ELSE = re.compile(rb"^[ \t]*(else[ \t]*:)[ \t]*((?:#[^\r\n]*)?)\r?", re.MULTILINE)


def into_else(scope: MutationContext) -> Iterator[Mutation]:
    """What follows an `if` becomes its `else`, `elif` becomes `if`, and the other ways round."""
    site = scope.site
    yield from _out_of_else(site)
    for block in site.blocks():
        for one, other in pairwise(block):
            if isinstance(one, ast.If) and isinstance(other, ast.If) and not one.orelse:
                begin, line = site.start(other), site.line(other)
                if site.whole(other):
                    why = f"`if` becomes `elif` on line {line}"
                    yield Mutation((TextEdit(begin, begin + 2, "elif"),), 2.4, line, why)
            span = site.whole(other)
            if not isinstance(one, ast.If) or one.orelse or span is None:
                continue
            step, indent = step_of(site, one.body[0], one), site.indent(one)
            if step is None or is_multiline(other):
                continue
            inner = indented(site, span, step)
            why = f"line {site.line(other)} runs only when line {site.line(one)} does not hold"
            where = TextEdit(*span, f"{indent}else:\n{inner}")
            yield Mutation((where,), 3.0, site.line(other), why)
    for node in site.statements:
        if isinstance(node, ast.If) and site.source.startswith(b"elif", site.start(node)):
            begin, line = site.start(node), site.line(node)
            why = f"`elif` becomes `if` on line {line}"
            # A test that takes the branch before it does not come by.
            owner = site.places[node].parent
            near = site.line(owner) if isinstance(owner, ast.If) else line
            yield Mutation((TextEdit(begin, begin + 4, "if"),), 2.4, near, why)


def _out_of_else(site: TargetAst) -> Iterator[Mutation]:
    """What an `else` holds follows the `if`, whatever that did: 2.6."""
    for node in site.each(ast.If):
        if not node.orelse:
            continue
        first, last = node.orelse[0], node.orelse[-1]
        step, span = step_of(site, first, node), site.whole(last)
        found = _ELSE.search(site.source, site.end(node.body[-1]), site.start(first))
        if found is None or step is None or span is None or site.whole(first) is None:
            continue
        if not any(map(is_multiline, node.orelse)):
            moved = outdented(site, (found.end() + 1, span[1]), step)
            if said := found[2].decode():
                moved = f"{site.indent(node)}{said}{newline(site)}{moved}"
            why = f"line {site.line(first)} follows the `if`, not only its `else`"
            # It is for tests that take the other branch.
            yield Mutation((TextEdit(found.start(), span[1], moved),), 2.6, site.line(node), why)


def last_branches(scope: MutationContext) -> Iterator[Mutation]:
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
        yield Mutation((TextEdit(at, at + len(found[1]), condition),), 2.4, line, why)
