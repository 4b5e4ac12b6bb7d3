"""Tamper evidence: what shows that a test passes because of the change and not in spite of it."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import replace

from heal_bot.core.model import CaseResult, Edit, SuiteRun
from heal_bot.core.statuses import RunResult
from heal_bot.source import functions, guard

_POISON = "raise BaseException('poisoned by heal-bot')"
Function = ast.FunctionDef | ast.AsyncFunctionDef


def poison_change(edits: Sequence[Edit]) -> tuple[Edit, ...]:
    """The same change with every function made to raise after its body; () without a function.

    The body is kept, so that a body which forges results does so here as well. A generator
    raises before its first value, since a caller may never ask for its last.
    """
    return rewrite_functions(edits, _raising)


def rewrite_functions(edits: Sequence[Edit], rewrite: Callable[[str], str]) -> tuple[Edit, ...]:
    """The same change with its functions rewritten, these first; () without a function."""
    chosen = [edit for edit in edits if edit.target.kind == "function"]
    changed = [replace(edit, new_source=rewrite(edit.new_source)) for edit in chosen]
    return (*changed, *(edit for edit in edits if edit not in chosen)) if changed else ()


def _raising(source: str) -> str:
    function = parse_function(source)
    poison = ast.parse(_POISON).body
    if is_generator(function):
        function.body = [*poison, *function.body]
    else:
        kept = [node for node in function.body if isinstance(node, ast.Global | ast.Nonlocal)]
        rest = [node for node in function.body if node not in kept] or [ast.Pass()]
        function.body = [*kept, ast.Try(body=rest, handlers=[], orelse=[], finalbody=poison)]
    return render_function(function, source)


def render_function(function: Function, source: str) -> str:
    """A changed tree as text, indented as the source that it was read from."""
    text = ast.unparse(ast.fix_missing_locations(function))
    return textwrap.indent(text, functions.find_indentation(source)) + "\n"


def parse_function(source: str) -> Function:
    """A function's source, indented or not, as a tree of its own; SourceRejected if it is none."""
    indented = bool(functions.find_indentation(source))
    # The caps are checked by guard, but its trees are shared and these are changed.
    guard.parse(f"if 1:\n{source}" if indented else source)
    node: ast.AST = ast.parse(f"if 1:\n{source}" if indented else source).body[0]
    if indented and isinstance(node, ast.If):
        node = node.body[0]
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        raise guard.SourceRejected("the source is no function")
    return node


def is_generator(function: Function) -> bool:
    """Whether the function itself yields; what is defined inside of it does not count."""
    waiting: list[ast.AST] = list(function.body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Yield | ast.YieldFrom):
            return True
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
            waiting.extend(ast.iter_child_nodes(node))
    return False


def not_outside(edits: Sequence[Edit]) -> str:
    """Why the changed functions cannot be called in a process of their own; '' when they can.

    All of them have to be: where one is not, its candidate would run beside the assertions.
    """
    for edit in edits:
        target = edit.target
        if target.kind != "function":
            return f"{target.qualname} is no function"
        if "." in target.qualname or target.nth or functions.find_indentation(target.source):
            return f"{target.qualname} is no module-level function"
        try:
            function = parse_function(edit.new_source)
        except guard.SourceRejected as error:
            return str(error)
        if isinstance(function, ast.AsyncFunctionDef) or is_generator(function):
            return f"{target.qualname} is a generator or coroutine"
        if function.decorator_list:
            return f"{target.qualname} is decorated"
    return ""


def still_passing(poison: SuiteRun, tests: Sequence[str]) -> tuple[str, ...]:
    """The tests that pass although what was changed raises."""
    green = poison.passed
    return tuple(test for test in tests if test in green)


def explain_outside(run: SuiteRun, tests: Sequence[str]) -> str:
    """Why the oracle does not speak for the tests; '' when all of them pass in its run."""
    results = {result.test: result for result in run.results}
    for test in tests:
        result = results.get(test)
        if result is None:
            return f"{test} did not run outside ({run.detail or run.ended})"
        if _is_refused(result):
            return f"{test} gets no answer there: {describe_failure(result)[2]}"
        if not result.passed:
            return describe_result(result)
    if not run.finished:
        return f"the run outside did not end: {run.detail or run.ended}"
    return "" if tests else "no test to judge by"


def describe_result(result: CaseResult) -> str:
    """How a test ended in the oracle's run, in words."""
    outcome, kind, message = describe_failure(result)
    return f"{result.test} {outcome} in the oracle's run: {kind}: {message}"


def find_contradicting(run: SuiteRun, tests: Sequence[str]) -> tuple[CaseResult, ...]:
    """Those of the tests that fail in the oracle's run, where the oracle had an answer."""
    red = (r for r in run.results if r.test in tests and r.outcome == RunResult.FAILED)
    return tuple(r for r in red if not _is_refused(r))


def _is_refused(result: CaseResult) -> bool:
    """Whether a test failed in the oracle's run since the oracle cannot tell."""
    return "Refused" in result.kind


def describe_failure(result: CaseResult) -> tuple[str, str, str]:
    """How a test ended, and with which words."""
    return result.outcome, result.kind, (result.message.strip().splitlines() or [""])[0]
