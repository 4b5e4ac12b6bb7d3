"""What the failures tell: exception types, and the constants that tests expect."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from heal_bot.core.model import Failure

_LITERAL = re.compile(
    r"""(?<![\w.])-?\d{1,9}(?:\.\d{1,9})?(?![\w.])|'(?:[^'\\\n]|\\.){0,40}'"""
    r"""|"(?:[^"\\\n]|\\.){0,40}"|\b(?:True|False|None)\b"""
)
_EXPECTED = re.compile(r"(?:==|!=| is | in |<=|>=|<|>)\s*(.{1,200})")
_NOT_RAISED = re.compile(r"DID NOT RAISE[^\n]{0,20}<class '([\w.]{1,80})'>")
_UNBOUND = re.compile(r"name '(\w{1,80})' is not defined|variable '(\w{1,80})'")
_NO_ITEMS = re.compile(r"== (\[\]|\{\}|\(\)|set\(\))(?!\S)")
# Of so many failures the first lines are read, and so many constants of each type kept.
_FAILURES, _MOST = 20, 12
_CHARACTERS = 3_000


@dataclass(frozen=True, slots=True)
class FailureHints:
    """Exception types of the failures, their messages, and constants, expected ones first.

    `empty` are the containers without items that tests expect.
    """

    kinds: frozenset[str]
    messages: tuple[str, ...]
    constants: tuple[object, ...]
    empty: tuple[str, ...] = ()

    def of(self, kind: type) -> tuple[object, ...]:
        """The constants of exactly this type."""
        return tuple(c for c in self.constants if type(c) is kind)

    def unbound(self) -> frozenset[str]:
        """Names that have no value where they are read."""
        return frozenset(a or b for m in self.messages for a, b in _UNBOUND.findall(m))

    def missing(self) -> tuple[str, ...]:
        """Exception types that tests waited for in vain, as pytest words it."""
        found = (n for m in self.messages for n in _NOT_RAISED.findall(m))
        return tuple(dict.fromkeys(_simple(name) for name in found))


def literals(text: str) -> list[object]:
    """The constants written in a text, in order."""
    values: list[object] = []
    for found in _LITERAL.findall(text[:20_000]):
        try:
            values.append(ast.literal_eval(found))
        except (ValueError, SyntaxError):
            continue
    return values


def with_examples(evidence: FailureHints, docstring: str) -> FailureHints:
    """The evidence with the results that the examples of a docstring show, after `>>> f(x)`."""
    shown: list[object] = []
    previous = ""
    for line in docstring[:5_000].splitlines():
        if previous.startswith((">>> ", "... ")) and not line.strip().startswith((">>>", "...")):
            shown += literals(line)
        previous = line.strip()
    known = {(type(value), value) for value in evidence.constants}
    new = [v for v in shown[:_MOST] if (type(v), v) not in known]
    return replace(evidence, constants=(*evidence.constants, *new))


def _simple(kind: str) -> str:
    return kind.rpartition(".")[2]


def gather(failures: Iterable[Failure]) -> FailureHints:
    """Read kinds and constants from failure messages (clipped by whoever made them)."""
    some = tuple(failures)[:_FAILURES]
    messages = tuple(failure.message[:_CHARACTERS] for failure in some)
    right: list[object] = []
    rest: list[object] = []
    for message in messages:
        for line in message.splitlines():
            for expected in _EXPECTED.findall(line):
                right += literals(expected)
            rest += literals(line)
    unique: dict[tuple[type, object], object] = {}
    for value in right + rest:
        unique.setdefault((type(value), value), value)
    counted: dict[type, int] = {}
    kept: list[object] = []
    for value in unique.values():
        counted[type(value)] = counted.get(type(value), 0) + 1
        if counted[type(value)] <= _MOST:
            kept.append(value)
    kinds = frozenset(_simple(f.kind) for f in some if f.kind)
    empty = dict.fromkeys(n for m in messages for n in _NO_ITEMS.findall(m))
    return FailureHints(kinds, messages, tuple(kept), tuple(empty))
