"""Whole statements put into a source, before or after another, or moved further in or out."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from heal_bot.repair.templates.change_tiers import Tier
from heal_bot.repair.templates.target_ast import TargetAst
from heal_bot.repair.templates.text_edits import Mutation, TextEdit, quote


def newline(site: TargetAst) -> str:
    """The line ending the source uses."""
    return "\r\n" if b"\r\n" in site.source else "\n"


def step(indent: str) -> str:
    """The white space of one step further in, as the source has it."""
    return "\t" if "\t" in indent else "    "


def block(site: TargetAst, lines: tuple[str, ...], indent: str) -> str:
    """Lines at an indentation; a leading tab in a line is one step further in."""
    end = newline(site)
    placed = (line.replace("\t", step(indent)) for line in lines)
    return "".join(f"{indent}{line}{end}" for line in placed)


def before(
    site: TargetAst, anchor: ast.stmt, lines: tuple[str, ...], tier: Tier
) -> Iterator[Mutation]:
    """The change that puts lines before a statement; none where that does not begin its line."""
    if not _begins(site, anchor):
        return
    begin = site.line_start(anchor)
    text = block(site, lines, site.indent(anchor))
    why = f"{quote(' '.join(lines))} comes before line {site.line(anchor)}"
    yield Mutation((TextEdit(begin, begin, text),), tier, site.line(anchor), why)


def after(
    site: TargetAst, anchor: ast.stmt, lines: tuple[str, ...], tier: Tier
) -> Iterator[Mutation]:
    """The change that puts lines after a statement, at its indentation."""
    if not _begins(site, anchor):
        return
    stop, end = anchor.end_lineno or 1, newline(site)
    why = f"{quote(' '.join(lines))} comes after line {stop + site.offset}"
    text = block(site, lines, site.indent(anchor))
    at = site.starts[stop]
    if site.source[at - 1 : at] in {b"\n", b"\r"}:
        if site.source[site.end(anchor) : at].strip()[:1] == b";":
            return
    else:
        text = end + text.removesuffix(end)
    yield Mutation((TextEdit(at, at, text),), tier, site.line(anchor), why)


def under(site: TargetAst, statement: ast.stmt, condition: str, tier: Tier) -> Iterator[Mutation]:
    """The change that runs a statement of one line only under a condition, its comment with it."""
    span, code = site.whole(statement), site.segment(statement)
    if span is None or "\n" in code or "\t" in code or "\n" in condition:
        return
    code += site.source[site.end(statement) : span[1]].decode().rstrip().replace("\t", " ")
    text = block(site, (f"if {condition}:", f"\t{code}"), site.indent(statement))
    if not site.source[: span[1]].endswith(b"\n"):
        text = text.rstrip("\r\n")
    line = site.line(statement)
    why = f"{quote(site.segment(statement))} on line {line} runs only if `{condition}`"
    yield Mutation((TextEdit(*span, text),), tier, line, why)


def _begins(site: TargetAst, statement: ast.stmt) -> bool:
    return not site.source[site.line_start(statement) : site.start(statement)].strip()


def step_of(site: TargetAst, inner: ast.stmt, outer: ast.stmt) -> str | None:
    """The white space that an inner block has more than the statement it belongs to."""
    deep, shallow = site.indent(inner), site.indent(outer)
    return deep[len(shallow) :] if deep.startswith(shallow) and deep != shallow else None


def outdented(site: TargetAst, span: tuple[int, int], step: str) -> str:
    """The lines of a part of the source, one step further out."""
    lines = site.source[span[0] : span[1]].decode().splitlines(keepends=True)
    return "".join(x.removeprefix(step) if x.strip() else x for x in lines)


def is_multiline(node: ast.stmt) -> bool:
    """Whether the statement holds text over several lines, which no indentation may touch."""
    return any(
        isinstance(n, ast.Constant | ast.JoinedStr) and n.lineno != n.end_lineno
        for n in ast.walk(node)
    )


def quote_head(site: TargetAst, node: ast.stmt) -> str:
    """The first line of a statement, to be told."""
    return quote(site.segment(node).splitlines()[0])
