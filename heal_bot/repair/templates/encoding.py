"""Text that does not fit its encoding: `.encode("ascii")` becomes `.encode("utf-8")`.

Only where a test failed with a UnicodeError. Another encoding costs 1.5 to 1.9, another way to
treat what does not fit 1.6 to 2.0.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from heal_bot.repair.templates.argument import added
from heal_bot.repair.templates.mutation_context import MutationContext
from heal_bot.repair.templates.text_edits import Mutation, Text

_KINDS = {"UnicodeError", "UnicodeDecodeError", "UnicodeEncodeError"}
_ENCODINGS = ("utf-8", "latin-1", "utf-8-sig", "cp1252")
_ERRORS = ("replace", "ignore", "backslashreplace", "surrogateescape", "xmlcharrefreplace")
_METHODS, _FUNCTIONS, _FILES = {"encode", "decode"}, {"str", "bytes"}, {"open", "read_text"}


def encodings(scope: MutationContext) -> Iterator[Mutation]:
    """Every call that encodes or decodes, and every opened file."""
    if not _KINDS & scope.evidence.kinds:
        return
    for node in scope.site.nodes:
        match node:
            case ast.Call(func=ast.Attribute(attr=name), args=args) if name in _METHODS:
                yield from _coded(scope, node, args)
            case ast.Call(func=ast.Name(id=name), args=[_, *args]) if name in _FUNCTIONS and args:
                yield from _coded(scope, node, args)
            case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)) if name in _FILES:
                for text in ('encoding="utf-8"', 'errors="replace"', 'errors="ignore"'):
                    yield added(scope, node, text, 1.6)


def _coded(scope: MutationContext, call: ast.Call, args: list[ast.expr]) -> Iterator[Mutation]:
    """`args` are the encoding and the way to treat errors, as far as they are given."""
    site = scope.site
    for rank, encoding in enumerate(_ENCODINGS):
        if args:
            yield site.put(args[0], Text(f'"{encoding}"'), 1.5 + 0.1 * rank)
        elif rank:
            yield added(scope, call, f'"{encoding}"', 1.5 + 0.1 * rank)
    for rank, errors in enumerate(_ERRORS):
        cost = 1.6 + 0.1 * rank
        if len(args) > 1:
            yield site.put(args[1], Text(f'"{errors}"'), cost)
        elif not any(keyword.arg == "errors" for keyword in call.keywords):
            yield added(scope, call, f'errors="{errors}"', cost)
