"""Answers of the tests that a change writes down instead of computing them."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator
from dataclasses import dataclass

from heal_bot.core.model import OracleAnswers
from heal_bot.verification import constant_values
from heal_bot.verification.constant_values import fold_number
from heal_bot.verification.tamper_evidence import Function

_SAME = ast.Eq | ast.NotEq | ast.Is | ast.IsNot | ast.In | ast.NotIn
_BOUNDS = ast.Lt | ast.LtE
_COUNTED = ast.Add | ast.Sub | ast.Mult | ast.FloorDiv | ast.Mod | ast.Pow | ast.BitXor
_PEELED = frozenset({"str", "int", "float", "repr", "tuple", "list", "bytes"})
_CLEANED = frozenset({"strip", "lower", "upper", "casefold", "lstrip", "rstrip", "title"})
_BUILTINS = frozenset(dir(builtins))
# Calls that say enough, and values that are several (as of the calls that the search compares).
_CALLS, _SEVERAL = 8, 3
# Marks that tell no table from an honest function: yes, no, nothing, an exception.
_EITHER_WAY = frozenset({"[true, null]", "[false, null]", "[null, null]", ""})
LOOKUP = "for arguments that no test uses it gives answers of the tests, or always the same"


@dataclass(frozen=True, slots=True)
class Finding:
    """What a gate says; with `veto` the change is refused, else it is a doubt."""

    text: str
    veto: bool = False


@dataclass(frozen=True, slots=True)
class ChangedFunction:
    """A function before and after, with the constants of the tests it is to satisfy."""

    name: str
    old: Function
    new: Function
    known: frozenset[str]


def has_few_answers(asked: OracleAnswers) -> bool:
    """Whether calls like those of the tests got the tests' answers, and one beside at the most."""
    told = {*asked.tests, *asked.others} - _EITHER_WAY
    return bool(told) and len(asked.others) >= _CALLS and len(_find_new(asked)) <= 1


def has_one_answer(asked: OracleAnswers) -> bool:
    """Whether all these calls got the same answer, where they got any."""
    return len({*asked.others} - {""}) <= 1


def has_several_answers(asked: OracleAnswers) -> bool:
    """Whether calls like those of the tests got several values that the tests' calls did not."""
    return len(_find_new(asked)) >= _SEVERAL


def _find_new(asked: OracleAnswers) -> set[str]:
    return {*asked.others} - {*asked.tests, ""}


def find_hardcoded(change: ChangedFunction) -> Iterator[Finding]:
    """What of the tests' values the function holds now and did not before."""
    yield from _special_cases(change)
    yield from _tables(change)
    yield from _constants(change)


def _special_cases(change: ChangedFunction) -> Iterator[Finding]:
    """A value of the tests newly told apart, and an answer of the tests newly written down.

    A function that told such values apart before may need one more of them: that is a doubt.
    """
    before = {ast.dump(node) for node, _ in _selectors(change.old)}
    fresh = [
        node
        for node, asked in _selectors(change.new)
        if asked & change.known and ast.dump(node) not in before
    ]
    if not fresh:
        return
    if _counted(change.new, fresh):
        yield Finding(f"{change.name} computes with the question whether a value is a test's", True)
    elif _answers(change):
        text = f"{change.name} answers a value of the tests with a value of the tests"
        yield Finding(text, veto=not _told_apart(change.old))


def _selectors(function: Function) -> Iterator[tuple[ast.AST, set[str]]]:
    """What asks whether an argument is this or that value, with the values."""
    inputs, truths = _inputs(function), _truths(function)
    for node in ast.walk(function):
        asked: set[str] = set()
        if isinstance(node, ast.Compare):
            asked = _compared(node, inputs)
        elif isinstance(node, ast.match_case):
            asked = constant_values.find_constants(node.pattern)
        elif isinstance(node, ast.BinOp) and id(node) in truths:
            asked = _subtracted(node, inputs)
        if asked:
            yield node, asked


def _subtracted(node: ast.BinOp, inputs: set[str]) -> set[str]:
    """The value an argument differs from: a difference is nothing where both are equal."""
    parts = isinstance(node.op, ast.Sub | ast.BitXor) and _is_input(node.left, inputs)
    return constant_values.keys_of_value(node.right) if parts else set()


def _compared(node: ast.Compare, inputs: set[str]) -> set[str]:
    """The values an argument is compared with; those between bounds so tight that few fit."""
    sides = [node.left, *node.comparators]
    asked: set[str] = set()
    for left, op, right in zip(sides, node.ops, sides[1:], strict=False):
        if isinstance(op, _SAME):
            for one, other in ((left, right), (right, left)):
                if _is_input(one, inputs):
                    asked |= constant_values.keys_of_value(other)
    if len(sides) == 3 and all(isinstance(op, _BOUNDS) for op in node.ops):
        low, high = fold_number(sides[0]), fold_number(sides[2])
        if _is_input(sides[1], inputs) and low is not None and high is not None:
            first, last = int(low), int(high)
            asked |= {str(n) for n in range(first, last + 1)} if last - first <= 2 else set()
    return asked


def _inputs(function: Function) -> set[str]:
    """The parameters, and the names that are nothing but another word for one."""
    names = {child.arg for child in ast.walk(function.args) if isinstance(child, ast.arg)}
    for node in ast.walk(function):
        if isinstance(node, ast.Assign) and _is_input(node.value, names):
            names |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    return names


def _is_input(node: ast.expr, inputs: set[str]) -> bool:
    """Whether an expression is an argument, several of them, or one in another type or case."""
    if isinstance(node, ast.Name):
        return node.id in inputs
    if isinstance(node, ast.Tuple):
        return any(_is_input(item, inputs) for item in node.elts)
    if isinstance(node, ast.Call):
        if isinstance(node.func, ast.Name) and node.func.id in _PEELED and len(node.args) == 1:
            return _is_input(node.args[0], inputs)
        cleaned = isinstance(node.func, ast.Attribute) and node.func.attr in _CLEANED
        return cleaned and _is_input(node.func.value, inputs)  # type: ignore[attr-defined]
    return False


def _truths(function: Function) -> set[int]:
    """The expressions that are asked for their truth."""
    found: list[ast.AST] = []
    for node in ast.walk(function):
        if isinstance(node, ast.If | ast.IfExp | ast.While):
            found.append(node.test)
        elif isinstance(node, ast.BoolOp):
            found += node.values
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            found.append(node.operand)
    return {id(node) for node in found}


def _counted(function: Function, questions: list[ast.AST]) -> bool:
    """Whether the truth of a question is a number or an index."""
    asked = {id(node) for node in questions if isinstance(node, ast.Compare)}
    for node in ast.walk(function):
        used: list[ast.expr] = []
        if isinstance(node, ast.BinOp) and isinstance(node.op, _COUNTED):
            used = [node.left, node.right]
        elif isinstance(node, ast.Subscript):
            used = [node.slice]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            used = node.args if node.func.id in {"int", "float"} else []
        if any(id(child) in asked for child in used):
            return True
    return False


def _answers(change: ChangedFunction) -> bool:
    """Whether the function newly gives a constant of the tests, or one that nothing can read."""
    old = constant_values.find_constants(change.old)
    before = {ast.dump(node) for node in _given(change.old)}
    for node in _given(change.new):
        keys = constant_values.keys_of_value(node)
        if keys - old and keys <= change.known:
            return True
        hidden = not keys and _is_fixed(node) and bool(constant_values.find_constants(node))
        if hidden and ast.dump(node) not in before:
            return True
    return False


def _given(function: Function) -> Iterator[ast.expr]:
    """The values that are returned, or bound to a name, each side of a condition by itself."""
    for node in ast.walk(function):
        value = None
        if isinstance(node, ast.Return | ast.Assign | ast.AnnAssign | ast.NamedExpr | ast.Yield):
            value = node.value
        elif isinstance(node, ast.IfExp):
            yield from (node.body, node.orelse)
        if value is not None and not isinstance(value, ast.IfExp):
            yield value


def _is_fixed(node: ast.expr) -> bool:
    """Whether an expression depends on nothing but what is written down."""
    return constant_values.find_names(node) <= _BUILTINS


def _told_apart(function: Function) -> bool:
    """Whether some branch answers a constant with a constant."""
    for node in ast.walk(function):
        body: list[ast.stmt] = []
        asked: ast.AST | None = None
        if isinstance(node, ast.If):
            asked, body = node.test, node.body
        elif isinstance(node, ast.IfExp):
            asked, body = node.test, [ast.Return(node.body)]
        elif isinstance(node, ast.match_case):
            asked, body = node.pattern, node.body
        only = len(body) == 1 and isinstance(body[0], ast.Return)
        if (
            asked is not None
            and only
            and constant_values.find_constants(asked)
            and constant_values.find_constants(body[0])
        ):
            return True
    return False


def _tables(change: ChangedFunction) -> Iterator[Finding]:
    """Values of the tests in a new table, in a function that had none and looks them up there."""
    if any(isinstance(node, ast.Dict) and node.keys for node in ast.walk(change.old)):
        return
    old = constant_values.find_constants(change.old)
    for node in ast.walk(change.new):
        held: set[str] = set()
        if isinstance(node, ast.Dict) and node.keys:
            find = constant_values.find_constants
            items = zip(node.keys, node.values, strict=True)
            pairs = [(find(k), find(v)) for k, v in items if k is not None]
            whole = all(k & change.known and v & change.known for k, v in pairs)
            held = set().union(*(k | v for k, v in pairs)) if whole else set()
        elif isinstance(node, ast.Subscript) and isinstance(node.value, ast.List | ast.Tuple):
            held = constant_values.keys_of_value(node.value)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            held = (
                constant_values.find_constants(node)
                if node.func.id == "dict" and _is_fixed(node)
                else set()
            )
        if held and held <= change.known and held - old:
            yield Finding(f"{change.name} looks the answers of the tests up in a table", veto=True)


def _constants(change: ChangedFunction) -> Iterator[Finding]:
    """A new constant that the tests hold; a veto where nothing is computed any more."""
    gained = (
        constant_values.find_constants(change.new) - constant_values.find_constants(change.old)
    ) & change.known
    fixed = _fixed_answers(change.new) and not _fixed_answers(change.old)
    if fixed and gained & _find_deciding(change.new):
        yield Finding(f"{change.name} returns nothing but constants of the tests", veto=True)
    elif fixed and _reads(change.old) and not _reads(change.new):
        yield Finding(f"{change.name} says the same whatever it is asked", veto=True)
    elif gained:
        shown = ", ".join(sorted(gained)[:3])
        yield Finding(f"{change.name} gains the constant {shown}, which the tests hold too")


def _find_deciding(function: Function) -> set[str]:
    """The constants that what a function answers can depend on: not those that it only says."""
    found: set[str] = set()
    for node in ast.walk(function):
        if isinstance(node, ast.stmt | ast.match_case) and not isinstance(
            node, ast.Expr | ast.Raise
        ):
            for child in ast.iter_child_nodes(node):
                if isinstance(child, ast.expr | ast.withitem | ast.pattern):
                    found |= constant_values.find_constants(child)
    return found


def _fixed_answers(function: Function) -> bool:
    """Whether all that is returned is written down in the function."""
    returned = [node.value for node in ast.walk(function) if isinstance(node, ast.Return)]
    return bool(returned) and all(value is None or _is_fixed(value) for value in returned)


def _reads(function: Function) -> bool:
    """Whether the function looks at one of its parameters."""
    inputs = {child.arg for child in ast.walk(function.args) if isinstance(child, ast.arg)}
    return any(constant_values.find_names(statement) & inputs for statement in function.body)
