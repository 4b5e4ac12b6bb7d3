"""Gates beside the tests: what in a change is no repair although the tests pass, or may be none."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from heal_bot.model import Edit, Spectrum
from heal_bot.ports import Tree
from heal_bot.source import functions, guard
from heal_bot.verify.evidence import Function, parsed

# Constants that say nothing: they occur in any code and in any test.
_COMMON = (None, True, False, "", 0, 1, -1, 2, 10, 100, 0.0, 1.0, 0.5, " ", ",", "\n")
_JUMP = 5


@dataclass(frozen=True, slots=True)
class Finding:
    """What a gate says; with `veto` the change is refused, else it is a doubt."""

    text: str
    veto: bool = False


@dataclass(frozen=True, slots=True)
class _Change:
    """A function before and after, with the constants of the tests it is to satisfy."""

    name: str
    old: Function
    new: Function
    known: frozenset[str]


def findings(edits: Sequence[Edit], tests: Sequence[str], tree: Tree) -> tuple[Finding, ...]:
    """What the changed functions show when they are read against the tests they fix."""
    known = frozenset().union(*(_constants_of(test, tree) for test in tests))
    found: list[Finding] = []
    for edit in edits:
        if edit.target.kind != "function":
            continue
        try:
            old, new = parsed(edit.target.source), parsed(edit.new_source)
        except (guard.SourceRejected, SyntaxError):
            continue
        change = _Change(edit.target.qualname, old, new, known)
        for gate in (
            _special_cases,
            _tables,
            _constants,
            _swallowed,
            _validation,
            _returns,
            _complexity,
        ):
            found.extend(gate(change))
    return tuple(dict.fromkeys(found))


def _special_cases(change: _Change) -> Iterator[Finding]:
    """A new branch for a value of the tests whose answer is a value of the tests as well.

    A function that told such values apart before may need one more of them: that is a doubt.
    """
    before = {ast.dump(node) for node, _ in _branchings(change.old)}
    told_apart = any(_literals(node) and _constant(body) for node, body in _branchings(change.old))
    for node, body in _branchings(change.new):
        fresh = ast.dump(node) not in before and _asked(node, change) & change.known
        if fresh and any(_answers(answer, change) for answer in body):
            text = f"{change.name} answers a value of the tests with a value of the tests"
            yield Finding(text, veto=not told_apart)


def _branchings(function: Function) -> Iterator[tuple[ast.expr | ast.pattern, list[ast.stmt]]]:
    """What is asked and what is done then, for each branch of the function."""
    for node in ast.walk(function):
        if isinstance(node, ast.If):
            yield node.test, node.body
        elif isinstance(node, ast.IfExp):
            yield node.test, [ast.Return(node.body)]
        elif isinstance(node, ast.match_case):
            yield node.pattern, node.body


def _asked(node: ast.expr | ast.pattern, change: _Change) -> set[str]:
    """The constants that a parameter is said to be equal to."""
    if isinstance(node, ast.pattern):
        return _literals(node)
    names = {argument.arg for argument in ast.walk(change.new) if isinstance(argument, ast.arg)}
    found: set[str] = set()
    for child in ast.walk(node):
        if isinstance(child, ast.Compare) and isinstance(child.ops[0], ast.Eq | ast.In | ast.Is):
            sides = (child.left, child.comparators[0])
            for one, other in (sides, sides[::-1]):
                if isinstance(one, ast.Name | ast.Tuple) and _names(one) & names:
                    found |= _literals(other)
    return found


def _constant(body: Sequence[ast.stmt]) -> bool:
    """Whether a branch does nothing but return a constant."""
    return len(body) == 1 and isinstance(body[0], ast.Return) and bool(_literals(body[0]))


def _answers(node: ast.AST, change: _Change) -> bool:
    """Whether a statement returns a constant of the tests."""
    return isinstance(node, ast.Return) and bool(_literals(node.value) & change.known)


def _tables(change: _Change) -> Iterator[Finding]:
    """A new dict from values of the tests to values of the tests, in a function without any."""
    if any(isinstance(node, ast.Dict) and node.keys for node in ast.walk(change.old)):
        return
    for node in ast.walk(change.new):
        if isinstance(node, ast.Dict) and node.keys:
            pairs = zip(node.keys, node.values, strict=True)
            if all(_literals(k) & change.known and _literals(v) & change.known for k, v in pairs):
                text = f"{change.name} looks the answers of the tests up in a table"
                yield Finding(text, veto=True)


def _constants(change: _Change) -> Iterator[Finding]:
    """A new constant that the tests hold; a veto where nothing is computed any more."""
    gained = (_literals(change.new) - _literals(change.old)) & change.known
    if gained and _fixed_answers(change.new) and not _fixed_answers(change.old):
        yield Finding(f"{change.name} returns nothing but constants of the tests", veto=True)
    elif gained:
        shown = ", ".join(sorted(gained)[:3])
        yield Finding(f"{change.name} gains the constant {shown}, which the tests hold too")


def _fixed_answers(function: Function) -> bool:
    """Whether all that is returned is written down in the function."""
    returned = [node.value for node in ast.walk(function) if isinstance(node, ast.Return)]
    return bool(returned) and not any(value and _names(value) for value in returned)


def _swallowed(change: _Change) -> Iterator[Finding]:
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


def _validation(change: _Change) -> Iterator[Finding]:
    """Fewer raises or asserts than before."""
    before, after = _checks(change.old), _checks(change.new)
    if after < before:
        yield Finding(f"{change.name} loses a check: {before} raise or assert before, {after} now")


def _checks(function: Function) -> int:
    return sum(isinstance(node, ast.Raise | ast.Assert) for node in ast.walk(function))


def _returns(change: _Change) -> Iterator[Finding]:
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


def _complexity(change: _Change) -> Iterator[Finding]:
    """Five or more new branches, and half as many again as there were."""
    before, after = _branches(change.old), _branches(change.new)
    if after - before >= _JUMP and after > 1.5 * before:
        yield Finding(f"{change.name} grows from {before} to {after} branches")


def _branches(function: Function) -> int:
    kinds = ast.If | ast.For | ast.While | ast.ExceptHandler | ast.IfExp | ast.comprehension
    plain = sum(isinstance(node, kinds | ast.match_case) for node in ast.walk(function))
    joined = sum(len(n.values) - 1 for n in ast.walk(function) if isinstance(n, ast.BoolOp))
    return 1 + plain + joined


def uncovered(
    before: str, after: str, path: str, tests: Sequence[str], seen: Spectrum
) -> tuple[int, ...]:
    """New lines of `after` that hold code which none of the tests executed."""
    kept = set(before.splitlines())
    ran = 0
    for test in tests:
        ran |= seen.hits.get(test, 0)
    lines = {n for bit, (file, n) in enumerate(seen.locations) if file == path and ran >> bit & 1}
    code = {
        node.lineno
        for node in ast.walk(guard.parse(after))
        if isinstance(node, ast.stmt)
        and not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        and not isinstance(node, ast.Global | ast.Nonlocal | ast.Import | ast.ImportFrom)
        and not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
    }
    text = after.splitlines()
    return tuple(n for n in sorted(code - lines) if text[n - 1] not in kept)


def _constants_of(test: str, tree: Tree) -> frozenset[str]:
    """The constants in the source of a test function and in its parameters' decorators."""
    path, _, rest = test.partition("::")
    try:
        known = functions.index(path, guard.check(tree.read(path)))
        target = functions.find(known, rest.partition("[")[0].replace("::", "."))
        return frozenset(_literals(parsed(target.source))) if target else frozenset()
    except (KeyError, guard.SourceRejected, SyntaxError):
        return frozenset()


def _literals(node: ast.AST | None) -> set[str]:
    """The telling constants below a node, as they are written; negative numbers as one."""
    found: set[str] = set()
    for child in ast.walk(node) if node is not None else ():
        value = None
        if isinstance(child, ast.Constant):
            value = child.value
        elif isinstance(child, ast.UnaryOp) and isinstance(child.op, ast.USub):
            inner = child.operand.value if isinstance(child.operand, ast.Constant) else None
            value = -inner if isinstance(inner, int | float) else None
        if isinstance(value, int | float | str | bytes) and value not in _COMMON:
            found.add(repr(value))
    return found


def _names(node: ast.AST) -> set[str]:
    return {child.id for child in ast.walk(node) if isinstance(child, ast.Name)}
