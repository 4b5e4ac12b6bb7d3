"""What is raised and not caught: `except KeyError:` becomes `except ValueError:`.

The type that a test failed with takes the place of a handler's or joins it, and gives way to
another one where a statement raises it.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator
from dataclasses import replace

from heal_bot.repair.templates.change_tiers import Tier, assign_tiers
from heal_bot.repair.templates.mutation_context import MutationContext
from heal_bot.repair.templates.target_ast import last_name
from heal_bot.repair.templates.text_edits import Mutation, Text

_NEVER = {"AssertionError", "Failed", "NameError", "UnboundLocalError", "SyntaxError",
          "RecursionError", "MemoryError", "Exception", "BaseException"}  # fmt: skip
# Types of the standard library by the built-in one they are caught as.
_BASES = {
    "JSONDecodeError": "ValueError",
    "UnicodeDecodeError": "UnicodeError",
    "UnicodeEncodeError": "UnicodeError",
    "InvalidOperation": "ArithmeticError",
    "gaierror": "OSError",
    "error": "OSError",
}
# What code raises by itself, the most common first.
_MEANT = ("ValueError", "TypeError", "KeyError", "IndexError", "RuntimeError", "AttributeError",
          "LookupError", "NotImplementedError", "OSError")  # fmt: skip


def _raised(scope: MutationContext) -> list[str]:
    """Names to catch what the tests failed with."""
    found: dict[str, None] = {}
    for kind in sorted(scope.evidence.kinds - _NEVER):
        known = kind in scope.around.globals() or isinstance(getattr(builtins, kind, None), type)
        found.update(dict.fromkeys([kind] if known else []))
        found.update(dict.fromkeys([_BASES[kind]] if kind in _BASES else []))
    return list(found)


def types(scope: MutationContext) -> Iterator[Mutation]:
    """The exceptions that a function catches, and those that it raises."""
    yield from handlers(scope)
    yield from raised(scope)


def handlers(scope: MutationContext) -> Iterator[Mutation]:
    """Every handler's type becomes the raised one, or catches it besides."""
    site = scope.site
    for kind in _raised(scope):
        for node in site.each(ast.Try):
            for handler in node.handlers:
                if handler.type is None or handler.type not in site.places:
                    continue
                # A handler has no line of its own that tests execute; what it guards has.
                line = max(map(site.line, node.body), key=lambda n: site.near(n) or 0)
                yield replace(site.put(handler.type, Text(kind), Tier.USUAL), line=line)
                old = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
                both = ", ".join([*map(site.segment, old), kind])
                yield replace(site.put(handler.type, Text(f"({both})"), Tier.USUAL), line=line)


def raised(scope: MutationContext) -> Iterator[Mutation]:
    """What a statement raises, and tests failed with, becomes another type.

    Most likely one that the module defines or the docstring names.
    """
    site = scope.site
    own = [name for name, made in scope.around.classes.items() if _is_exception(made)]
    told = ast.get_docstring(site.function) or "" if site.function is not None else ""
    for node in site.statements:
        match node:
            case ast.Raise(exc=ast.Call(func=ast.Name() as kind) | (ast.Name() as kind)) if (
                kind.id in scope.evidence.kinds
            ):
                others = [name for name in (*own, *_MEANT) if name != kind.id]
                for name, tier in assign_tiers(others):
                    near = name in own or name in told
                    yield site.put(kind, Text(name), Tier.USUAL if near else tier)


def _is_exception(made: ast.ClassDef) -> bool:
    """Whether a class is one by the names of its bases."""
    return any(last_name(base).endswith(("Error", "Exception")) for base in made.bases)
