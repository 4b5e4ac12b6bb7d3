"""Gates beside the tests: what in a change is no repair although the tests pass, or may be none."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from heal_bot.core.model import Edit, Spectrum
from heal_bot.ports import Tree
from heal_bot.source import guard
from heal_bot.verification import constant_values, hardcoded_answers
from heal_bot.verification.hardcoded_answers import ChangedFunction, Finding
from heal_bot.verification.tamper_evidence import Function, parse_function

_JUMP = 5


def list_findings(edits: Sequence[Edit], tests: Sequence[str], tree: Tree) -> tuple[Finding, ...]:
    """What the changed functions show when they are read against the tests they fix."""
    known = constant_values.find_test_constants(tests, tree)
    found: list[Finding] = []
    for edit in edits:
        if edit.target.kind != "function":
            continue
        try:
            old, new = parse_function(edit.target.source), parse_function(edit.new_source)
        except (guard.SourceRejected, SyntaxError):
            continue
        change = ChangedFunction(edit.target.qualname, old, new, known)
        found.extend(hardcoded_answers.find_hardcoded(change))
        for gate in (_swallowed, _validation, _returns, _complexity):
            found.extend(gate(change))
    return tuple(dict.fromkeys(found))


def _swallowed(change: ChangedFunction) -> Iterator[Finding]:
    """A new handler that ends an exception in silence."""
    before, after = _silent(change.old), _silent(change.new)
    if after > before:
        yield Finding(f"{change.name} newly swallows an exception")


def _silent(function: Function) -> int:
    handlers = [n for n in ast.walk(function) if isinstance(n, ast.ExceptHandler)]
    quiet = sum(all(_says_nothing(s) for s in handler.body) for handler in handlers)
    called = [n.func for n in ast.walk(function) if isinstance(n, ast.Call)]
    names = [f.attr if isinstance(f, ast.Attribute) else getattr(f, "id", "") for f in called]
    return quiet + names.count("suppress")


def _says_nothing(node: ast.stmt) -> bool:
    plain = isinstance(node, ast.Return) and isinstance(node.value, ast.Constant | None)
    return plain or isinstance(node, ast.Pass | ast.Continue | ast.Break)


def _validation(change: ChangedFunction) -> Iterator[Finding]:
    """Fewer raises or asserts than before."""
    before, after = _checks(change.old), _checks(change.new)
    if after < before:
        yield Finding(f"{change.name} loses a check: {before} raise or assert before, {after} now")


def _checks(function: Function) -> int:
    return sum(isinstance(node, ast.Raise | ast.Assert) for node in ast.walk(function))


def _returns(change: ChangedFunction) -> Iterator[Finding]:
    """A type of result that the function did not return before, as far as its text shows."""
    before, after = _kinds(change.old), _kinds(change.new)
    if before and (fresh := after - before):
        old, new = ", ".join(sorted(before)), ", ".join(sorted(fresh))
        yield Finding(f"{change.name} now also returns {new} (before: {old})")


def _kinds(function: Function) -> set[str]:
    found = set()
    for node in ast.walk(function):
        if isinstance(node, ast.Return):
            value = node.value
            if value is None:
                found.add("None")
            elif isinstance(value, ast.Constant):
                found.add(type(value.value).__name__)
            elif isinstance(value, ast.List | ast.ListComp):
                found.add("list")
            elif isinstance(value, ast.Dict | ast.DictComp):
                found.add("dict")
            elif isinstance(value, ast.Tuple | ast.Set | ast.SetComp | ast.JoinedStr):
                found.add({ast.Tuple: "tuple", ast.JoinedStr: "str"}.get(type(value), "set"))
    return found


def _complexity(change: ChangedFunction) -> Iterator[Finding]:
    """Five or more new branches, and half as many again as there were."""
    before, after = _branches(change.old), _branches(change.new)
    if after - before >= _JUMP and after > 1.5 * before:
        yield Finding(f"{change.name} grows from {before} to {after} branches")


def _branches(function: Function) -> int:
    kinds = ast.If | ast.For | ast.While | ast.ExceptHandler | ast.IfExp | ast.comprehension
    plain = sum(isinstance(node, kinds | ast.match_case) for node in ast.walk(function))
    joined = sum(len(n.values) - 1 for n in ast.walk(function) if isinstance(n, ast.BoolOp))
    return 1 + plain + joined


def find_uncovered(
    before: str, after: str, path: str, tests: Sequence[str], seen: Spectrum
) -> tuple[int, ...]:
    """New lines of `after` that hold code which none of the tests executed.

    What stands straight in a module or class runs as that is imported, before any test.
    """
    kept = set(before.splitlines())
    lines = seen.list_lines(*tests).get(path, set())
    nodes = [*ast.walk(guard.parse(after))]
    outside = {
        s for node in nodes if isinstance(node, ast.Module | ast.ClassDef) for s in node.body
    }
    code = {
        node.lineno
        for node in nodes
        if isinstance(node, ast.stmt) and node not in outside
        and not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        and not isinstance(node, ast.Global | ast.Nonlocal | ast.Import | ast.ImportFrom)
        and not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
    }  # fmt: skip
    text = after.splitlines()
    return tuple(n for n in sorted(code - lines) if text[n - 1] not in kept)
