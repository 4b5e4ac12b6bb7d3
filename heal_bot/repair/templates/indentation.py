"""Statements of a source moved further in or out, and the step by which a block is further in."""

from __future__ import annotations

import ast

from heal_bot.core.text import one_line
from heal_bot.repair.templates.target_ast import TargetAst


def step_of(site: TargetAst, inner: ast.stmt, outer: ast.stmt) -> str | None:
    """The white space that an inner block has more than the statement it belongs to."""
    deep, shallow = site.indent(inner), site.indent(outer)
    return deep[len(shallow) :] if deep.startswith(shallow) and deep != shallow else None


def outdented(site: TargetAst, span: tuple[int, int], step: str) -> str:
    """The lines of a part of the source, one step further out."""
    return "".join(x.removeprefix(step) if x.strip() else x for x in _lines(site, span))


def indented(site: TargetAst, span: tuple[int, int], step: str) -> str:
    """The lines of a part of the source, one step further in."""
    return "".join(step + x if x.strip() else x for x in _lines(site, span))


def is_multiline(node: ast.stmt) -> bool:
    """Whether the statement holds text over several lines, which no indentation may touch."""
    return any(
        isinstance(n, ast.Constant | ast.JoinedStr) and n.lineno != n.end_lineno
        for n in ast.walk(node)
    )


def named(site: TargetAst, node: ast.stmt) -> str:
    """The first line of a statement, to be told."""
    return one_line(site.segment(node).splitlines()[0], 60)


def _lines(site: TargetAst, span: tuple[int, int]) -> list[str]:
    return site.source[span[0] : span[1]].decode().splitlines(keepends=True)
