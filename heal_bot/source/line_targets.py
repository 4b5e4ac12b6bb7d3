"""Lines as a target: what there is to address in a file that does not parse, or import."""

from __future__ import annotations

import ast
import re

from heal_bot.core.model import Target
from heal_bot.source import functions, guard

KIND = "lines"
_DEFINED = re.compile(r"^\s*(?:async\s+)?(?:def|class)\s+(\w+)", re.MULTILINE)
_NAME = re.compile(r"lines? (\d{1,7})(?:-(\d{1,7}))?")


def make_target(path: str, text: str, first: int, last: int) -> Target | None:
    """These lines of a file; None where it has fewer."""
    found = functions.split_lines(text.removeprefix("\ufeff"))
    if not 0 < first <= last <= len(found):
        return None
    name = f"line {first}" if first == last else f"lines {first}-{last}"
    return Target(path, name, 0, KIND, first, last, "".join(found[first - 1 : last]))


def find_lines(path: str, text: str, name: str) -> Target | None:
    """The target of such a name; None for other names."""
    match = _NAME.fullmatch(name)
    return make_target(path, text, int(match[1]), int(match[2] or match[1])) if match else None


def find_statement(path: str, text: str, line: int) -> Target | None:
    """The innermost simple statement on a line as lines; the line alone where none parses."""
    try:
        node = find_innermost(guard.parse(text), line)
    except guard.SourceRejected:
        node = None
    if node is None:
        return make_target(path, text, line, line)
    return make_target(path, text, node.lineno, node.end_lineno or node.lineno)


def find_innermost(tree: ast.Module, line: int) -> ast.stmt | None:
    """The smallest statement that a line is part of."""
    inside = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.stmt) and node.lineno <= line <= (node.end_lineno or node.lineno)
    ]
    return min(inside, key=lambda n: (n.end_lineno or n.lineno) - n.lineno, default=None)


def explain_refusal(one: Target, text: str, after: str, new_source: str) -> str:
    """Why these lines may not become others; '' where they may.

    In a file that parses only imports, and where they stand, or one name may change; in one that
    does not anything may for which it parses, as long as nothing that it defines is gone.
    """
    try:
        new = guard.parse(after)
    except guard.SourceRejected as error:
        return str(error)
    try:
        old = guard.parse(text)
    except guard.SourceRejected:
        gone = set(_DEFINED.findall(one.source)) - set(_DEFINED.findall(new_source))
        return f"the new lines do not define {min(gone)}, which the old ones do" if gone else ""
    (shape, names), (other, others) = _bare(old), _bare(new)
    renamed = {pair for pair in zip(names, others, strict=False) if len(set(pair)) > 1}
    return "" if shape == other and len(renamed) < 2 else "more than imports or a name changes"


class _Bare(ast.NodeTransformer):
    """Takes out imports and what only type checkers import; keeps names apart from the rest."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def visit_Import(self, node: ast.Import) -> None:
        """No import is left."""

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        """No import is left."""

    def visit_If(self, node: ast.If) -> ast.If | None:
        """One that holds nothing but imports for type checkers is an import itself."""
        only = all(isinstance(n, ast.Import | ast.ImportFrom) for n in (*node.body, *node.orelse))
        if only and ast.unparse(node.test).rpartition(".")[2] == "TYPE_CHECKING":
            return None
        self.generic_visit(node)
        return node

    def visit_Name(self, node: ast.Name) -> ast.Name:
        self.names.append(node.id)
        return ast.Name("", node.ctx)

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        self.names.append(node.attr)
        node.attr = ""
        return self.generic_visit(node)


def _bare(tree: ast.Module) -> tuple[str, list[str]]:
    bare = _Bare()
    return ast.dump(bare.visit(tree)), bare.names
