"""What the calls of a function that a commit extracted should give it, by their former code.

Where a function stands for code that two others had, its parameters are where these differed: what
the former code of a caller has there is what its call should give. A literal that some call gives
for a parameter, and that stands in the function itself, was copied and not adapted.
"""

from __future__ import annotations

import ast
import contextlib
import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set

from heal_bot.source.bound_names import find_symbols
from heal_bot.source.definitions import Function
from heal_bot.source.extracted_functions import (
    Call,
    Extraction,
    Holder,
    align,
    list_body,
    read_arguments,
)
from heal_bot.source.lost_code import (
    UNREADABLE,
    append_argument,
    list_functions,
    list_known,
    name_callee,
)
from heal_bot.source.parsed_version import BLOCKS, Version
from heal_bot.source.tree_diff import Part


def correct_arguments(extraction: Extraction) -> Iterator[tuple[str, Part]]:
    """The parts by their paths: of calls of new functions, and of what these have copied."""
    for one in extraction.brought:
        with contextlib.suppress(*UNREADABLE):
            calls: list[ast.Call] = []
            for caller in extraction.callers:
                called = extraction.called[caller.file.path, caller.name]
                here = _find_now(caller) if one.node.name in called else None
                if here is not None:
                    calls += _list_calls(one.node, here)
                    parts = _correct_calls(one.node, caller, here, extraction)
                    yield from ((caller.file.path, part) for part in parts)
            if now := _find_now(one):
                parts = _adapt_copies(Version.of(one.file.now), now, calls)
                yield from ((one.file.path, part) for part in parts)


def _correct_calls(
    function: Function, caller: Holder, here: Function, extraction: Extraction
) -> Iterator[Part]:
    """The calls of a function in a caller, each with what the former code of that had."""
    version, gone = Version.of(caller.file.now), extraction.gone
    known = list_known(version.tree) | find_symbols(ast.unparse(here))
    for call in _list_calls(function, here):
        former = gone.get((caller.file.path, caller.name), ())
        pairs = align(former, list_body(function), Call.of(function, call))
        meant = _find_meant(function, ((old, new) for old, new, _ in pairs))
        yield from _complete(version, call, read_arguments(function, call), meant, known)


def _find_now(one: Holder) -> Function | None:
    """A function where it stands now, as far as it is as the commit left it."""
    node = list_functions(Version.of(one.file.now).tree, local=True).get(one.name)
    return node if node is not None and ast.dump(node) == ast.dump(one.node) else None


def _list_calls(function: Function, caller: Function) -> Iterator[ast.Call]:
    """The calls of a function by its name in another one."""
    calls = (node for node in ast.walk(caller) if isinstance(node, ast.Call))
    yield from (call for call in calls if name_callee(call) == function.name)


def _find_meant(function: Function, pairs: Iterable[tuple[ast.AST, ast.AST]]) -> dict[str, str]:
    """What former statements have where the new ones beside them have a parameter."""
    arguments = function.args
    names = {a.arg for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)}
    found: dict[str, Counter[str]] = {}
    for one in pairs:
        # What was stored there may be returned here.
        old, new = (getattr(node, "value", node) for node in one)
        for name, value in _unify(old, new, names):
            found.setdefault(name, Counter())[ast.unparse(value)] += 1
    return {name: votes.most_common(1)[0][0] for name, votes in found.items()}


def _unify(old: object, new: object, names: set[str]) -> Iterator[tuple[str, ast.expr]]:
    """The former expressions in the places of parameters, as far as the rest is the same."""
    if isinstance(new, ast.Name) and isinstance(new.ctx, ast.Load) and new.id in names:
        if isinstance(old, ast.expr) and not isinstance(old, ast.Slice | ast.Starred):
            yield new.id, old
    elif isinstance(old, list) and isinstance(new, list):
        if len(old) == len(new):
            for one, other in zip(old, new, strict=True):
                yield from _unify(one, other, names)
    elif isinstance(old, ast.AST) and type(old) is type(new):
        for field in old._fields:
            if field not in BLOCKS:
                yield from _unify(getattr(old, field, None), getattr(new, field, None), names)


def _complete(
    version: Version,
    call: ast.Call,
    given: Mapping[str, ast.expr],
    meant: Mapping[str, str],
    known: Set[str],
) -> Iterator[Part]:
    """A call with each argument as it is meant, where that is another one than it gives."""
    for name, text in meant.items():
        words = {n.id for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Name)}
        if name in {"self", "cls"}:
            continue
        if name in given:
            if ast.unparse(given[name]) != text and words <= known:
                yield Part(*version.span(given[name]), text.encode(), (), atomic=True)
        else:
            yield append_argument(version, call, f"{name}={text}")


def _adapt_copies(
    version: Version, function: Function, calls: Sequence[ast.Call]
) -> Iterator[Part]:
    """The parameters in the places of literals that some call gives for them."""
    given = itertools.chain.from_iterable(read_arguments(function, c).items() for c in calls)
    names = {(ast.dump(value), name) for name, value in given if isinstance(value, ast.Constant)}
    for node in _list_literals(function) if names else ():
        for dump, name in sorted(names):
            if ast.dump(node) == dump:
                yield Part(*version.span(node), name.encode(), (), atomic=True)


def _list_literals(node: ast.AST) -> Iterator[ast.Constant]:
    """The literals of code, but for texts that say something and what is told apart by them."""
    if isinstance(node, ast.Constant):
        yield node
    elif not isinstance(node, ast.JoinedStr | ast.pattern):
        for inner in ast.iter_child_nodes(node):
            if not (isinstance(node, ast.Expr) and isinstance(inner, ast.Constant)):
                yield from _list_literals(inner)
