"""The change with every value that leaves it compared with values that are not the same."""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Sequence

from heal_bot.core.model import Edit, SuiteRun
from heal_bot.verification import tamper_evidence

_SAID = "heal-bot: this is equal to values that differ"
# Only `is True` counts: arrays and columns answer comparisons with objects of their own. What a
# container or an object holds is looked at as well, two levels deep. `mock.call()` is equal to
# several values by design. The names are imported, since the function may have its own for them.
_PROBE = """
def NAME(value, depth=2):
    from builtins import (
        BaseException, Exception, bool, bytes, dict, float, frozenset, getattr, int, list, set,
        str, tuple, type,
    )
    from unittest.mock import NonCallableMock, _Call

    for base in type(value).__mro__:
        if base is NonCallableMock or base is _Call:
            return value
    plain = (int, float, bool, str, bytes, type(None))
    differ = (
        (0, 1, 2, 5, 17, 42, 8191, -77),
        (0.5, 1.5, -7.25),
        ("", "a", "heal", "Bot"),
        (b"", b"a"),
        ((), (0,), (1, 2)),
        ([], [0], [1, 2]),
        ({}, {0: 0}, {"a": 1}),
        (None, False),
    )
    for kind in differ if type(value) not in plain else ():
        met = 0
        for other in kind:
            try:
                met += (value == other) is True
                met += (value < other) is True and (value > other) is True
            except Exception:
                pass
        if met > 1:
            raise BaseException(SAID)
    inside = ()
    if type(value) in (list, tuple, set, frozenset):
        inside = tuple(value)
    elif type(value) is dict:
        inside = tuple(value.values())
    elif type(getattr(value, "__dict__", None)) is dict:
        inside = tuple(value.__dict__.values())
    for item in inside[:50] if depth else ():
        NAME(item, depth - 1)
    return value
"""


def probe_change(edits: Sequence[Edit]) -> tuple[Edit, ...]:
    """The same change with what its functions return, yield and are given probed; () without any.

    A value that is equal to two different ones makes every test pass that compares it. A function
    that hands one out raises here.
    """
    return tamper_evidence.rewrite_functions(edits, _probing)


def find_fooled(run: SuiteRun, tests: Sequence[str]) -> tuple[str, ...]:
    """The tests among `tests` that met such a value in a run of the probed change."""
    met = {result.test for result in run.results if _SAID in result.message}
    return tuple(test for test in tests if test in met)


def describe_probe(run: SuiteRun, tests: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    """What the gate says of a run that fooled no test, and a doubt where it shows nothing."""
    green = run.passed
    lost = [test for test in tests if test not in green]
    if not lost:
        return "no value is equal to values that differ", ()
    why = f"{lost[0]} does not pass where values are compared with others"
    return f"not measured: {why}", (f"{why}: what it shows rests on its own comparisons",)


def _probing(source: str) -> str:
    function = tamper_evidence.parse_function(source)
    # A name that the function cannot hold, so that nothing in it takes the place of the probe.
    name = f"_heal_bot_{hashlib.sha256(source.encode('utf-8', 'surrogateescape')).hexdigest()}"
    probe = ast.parse(_PROBE.replace("NAME", name).replace("SAID", repr(_SAID))).body
    first = [node for node in function.body if isinstance(node, ast.Global | ast.Nonlocal)]
    rest = [_Probed(name).visit(node) for node in function.body if node not in first]
    if tamper_evidence.is_generator(function):
        function.body = [*first, *probe, *rest]
    else:
        given = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
        bound = [arg.arg for arg in given if arg.arg not in _unbound(function)]
        named = ast.Tuple([ast.Name(one, ast.Load()) for one in bound], ast.Load())
        look = ast.Expr(ast.Call(ast.Name(name, ast.Load()), [named, ast.Constant(3)], []))
        body = rest or [ast.Pass()]
        function.body = [
            *first, *probe, ast.Try(body=body, handlers=[], orelse=[], finalbody=[look])
        ]  # fmt: skip
    return tamper_evidence.render_function(function, source)


def _unbound(function: ast.AST) -> set[str]:
    """Names that a `del` or the end of an `except` may unbind."""
    gone = {n.id for n in ast.walk(function) if isinstance(n, ast.Name) and type(n.ctx) is ast.Del}
    caught = {n.name for n in ast.walk(function) if isinstance(n, ast.ExceptHandler) and n.name}
    return gone | caught


class _Probed(ast.NodeTransformer):
    """Puts the values that the function itself returns and yields through the probe."""

    def __init__(self, name: str) -> None:
        self._name = name

    def visit_Return(self, node: ast.Return) -> ast.AST:
        self.generic_visit(node)
        return ast.Return(self._call(node.value)) if node.value is not None else node

    def visit_Yield(self, node: ast.Yield) -> ast.AST:
        self.generic_visit(node)
        return ast.Yield(self._call(node.value)) if node.value is not None else node

    def _leave(self, node: ast.AST) -> ast.AST:
        return node

    visit_FunctionDef = visit_AsyncFunctionDef = visit_Lambda = visit_ClassDef = _leave

    def _call(self, value: ast.expr) -> ast.expr:
        return ast.Call(ast.Name(self._name, ast.Load()), [value], [])
