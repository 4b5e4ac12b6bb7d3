"""Syntax newer than the running Python, rewritten so that its own parser reads it.

Kept are lines, names, calls and texts; lost is what no index or rail looks at: type parameters,
how an f-string formats.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import libcst as cst


def lower_syntax(text: str) -> str | None:
    """The text in older syntax with the same lines, or None when libcst cannot read it either.

    Type parameters go, type aliases become their value, f-strings become tuples of their parts.
    """
    try:
        module = cst.parse_module(text)
        changed = module.visit(_Lower())
    except (cst.ParserSyntaxError, cst.CSTValidationError, RecursionError):
        return None
    assert isinstance(changed, cst.Module)
    return changed.code


class _Lower(cst.CSTTransformer):
    def leave_FunctionDef(
        self, original_node: cst.FunctionDef, updated_node: cst.FunctionDef
    ) -> cst.FunctionDef:
        return updated_node.with_changes(type_parameters=None)

    def leave_ClassDef(
        self, original_node: cst.ClassDef, updated_node: cst.ClassDef
    ) -> cst.ClassDef:
        return updated_node.with_changes(type_parameters=None)

    def leave_TypeAlias(
        self, original_node: cst.TypeAlias, updated_node: cst.TypeAlias
    ) -> cst.Expr:
        return cst.Expr(updated_node.value, semicolon=updated_node.semicolon)

    def visit_ConcatenatedString(self, node: cst.ConcatenatedString) -> bool:
        return False

    def leave_ConcatenatedString(
        self, original_node: cst.ConcatenatedString, updated_node: cst.ConcatenatedString
    ) -> cst.BaseExpression:
        plain = (cst.SimpleString, cst.ConcatenatedString)
        formatted = not all(isinstance(part, plain) for part in _strings(original_node))
        return _tuple(original_node) if formatted else updated_node

    def visit_FormattedString(self, node: cst.FormattedString) -> bool:
        return False

    def leave_FormattedString(
        self, original_node: cst.FormattedString, updated_node: cst.FormattedString
    ) -> cst.BaseExpression:
        return _tuple(original_node)

    def visit_TemplatedString(self, node: cst.TemplatedString) -> bool:
        return False

    def leave_TemplatedString(
        self, original_node: cst.TemplatedString, updated_node: cst.TemplatedString
    ) -> cst.BaseExpression:
        return _tuple(original_node)


def _tuple(node: cst.BaseExpression) -> cst.BaseExpression:
    """The string's texts and expressions as a tuple that takes as many lines."""
    empty = cst.Module([])
    whole = empty.code_for_node(node)
    parts = "".join(f"{part}, " for one in _strings(node) for part in _parts(one))
    missing = whole.count("\n") - parts.count("\n")
    changed = cst.parse_expression(f"({parts}'',{chr(10) * max(0, missing)})")
    lowered_parts = changed.visit(_Lower())
    assert isinstance(lowered_parts, cst.BaseExpression)
    return lowered_parts


def _strings(node: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    while isinstance(node, cst.ConcatenatedString):
        yield node.left
        node = node.right
    yield node


def _parts(node: cst.CSTNode) -> Iterator[str]:
    """The code of each text and expression of a string, format specifications included."""
    if isinstance(node, cst.FormattedString | cst.TemplatedString):
        yield from _contents(node.parts)
    elif isinstance(node, cst.SimpleString):
        yield cst.Module([]).code_for_node(node)


def _contents(parts: Sequence[cst.CSTNode]) -> Iterator[str]:
    for part in parts:
        if isinstance(part, cst.FormattedStringText | cst.TemplatedStringText):
            yield repr(part.value)
        elif isinstance(part, cst.FormattedStringExpression | cst.TemplatedStringExpression):
            yield f"({cst.Module([]).code_for_node(part.expression)})"
            yield from _contents(part.format_spec or ())
