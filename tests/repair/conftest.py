"""A suspect made of a source text, a brief around it, and a judge that runs candidates here."""

from __future__ import annotations

import ast
import itertools
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import FrameType
from typing import Any

import pytest

from heal_bot.core.events import Event, Run
from heal_bot.core.model import Attempt, Candidate, Cluster, Failure, Suspect, Target
from heal_bot.ports import Brief
from heal_bot.repair.templates.template_proposer import TemplateProposer


class Files:
    """The part of a tree that rules read."""

    def __init__(self, files: Mapping[str, str]) -> None:
        self.files = files

    def paths(self) -> tuple[str, ...]:
        return tuple(self.files)

    def read(self, path: str) -> bytes:
        return self.files[path].encode()


class Told:
    """A recall over fixed clusters that notes what was rejected."""

    def __init__(self, brief: Brief) -> None:
        self.brief = brief

    def __call__(self) -> Brief:
        return self.brief

    def reject(self, candidate: Candidate, reason: str) -> None:
        raise AssertionError(reason)


class Bench:
    """Makes suspects of the functions of a module text and asks the rules about them."""

    def __init__(self) -> None:
        self.events: list[Event] = []

    def target(self, text: str, qualname: str = "") -> Target:
        found = dict(_definitions(ast.parse(text).body))
        name = qualname or next(iter(found))
        node = found[name]
        first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])
        last = node.end_lineno or first
        lines = text.splitlines(keepends=True)
        kind = "function" if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) else (
            "class_attribute" if "." in name else "assignment"
        )  # fmt: skip
        return Target("shop.py", name, 0, kind, first, last, "".join(lines[first - 1 : last]))

    def brief(
        self,
        text: str,
        *names: str,
        failures: Sequence[Failure] = (),
        lines: Mapping[int, float] | None = None,
        partial: tuple[Attempt, ...] = (),
    ) -> Brief:
        targets = [self.target(text, name) for name in names or ("",)]
        suspects = tuple(Suspect(t, 1.0 - 0.1 * i, (), lines) for i, t in enumerate(targets))
        failed = tuple(failures) or (Failure("test_shop.py::test_it", "AssertionError", ""),)
        return Brief(Cluster("c1", failed, suspects), Files({"shop.py": text}), partial=partial)  # type: ignore[arg-type]

    def candidates(self, text: str, *names: str, **more: Any) -> Iterator[Candidate]:
        told = Told(self.brief(text, *names, **more))
        return TemplateProposer().propose(Run(self.events.append), told)

    def changed(self, text: str, candidate: Candidate) -> str:
        """The module text after a candidate."""
        lines = text.splitlines(keepends=True)
        for edit in sorted(candidate.edits, key=lambda e: -e.target.first_line):
            lines[edit.target.first_line - 1 : edit.target.last_line] = [edit.new_source]
        return "".join(lines)

    def position(self, text: str, fixed: str, most: int, *names: str, **more: Any) -> int | None:
        """At which place the candidates of a buggy text hold the fixed one, from 1."""
        wanted = ast.dump(ast.parse(fixed))
        some = itertools.islice(self.candidates(text, *names, **more), most)
        for place, candidate in enumerate(some, 1):
            if ast.dump(ast.parse(self.changed(text, candidate))) == wanted:
                return place
        return None


def _definitions(body: list[ast.stmt], prefix: str = "") -> Iterator[tuple[str, ast.stmt]]:
    for node in body:
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield prefix + name, node
                yield from _definitions(node.body, f"{prefix}{name}.<locals>.")
            case ast.ClassDef(name=name, body=inner):
                yield from _definitions(inner, f"{prefix}{name}.")
            case ast.Assign(targets=[ast.Name(id=name)]):
                yield prefix + name, node


@pytest.fixture
def bench() -> Bench:
    return Bench()


class Late(BaseException):
    """A candidate took too long; no `except Exception` of a candidate stops it."""


def _ring(number: int, frame: FrameType | None) -> None:
    raise Late


@pytest.fixture
def holds() -> Iterator[Callable[[str, str], bool]]:
    """Whether assertions hold after a module text ran, within 50 ms."""
    before = signal.signal(signal.SIGALRM, _ring)

    def judge(text: str, checks: str) -> bool:
        try:
            signal.setitimer(signal.ITIMER_REAL, 0.05)
            names: dict[str, Any] = {}
            exec(compile(text, "shop.py", "exec", dont_inherit=True), names)
            exec(compile(checks, "checks.py", "exec", dont_inherit=True), names)
        except (Exception, Late):  # noqa: BLE001  (a candidate may raise anything)
            return False
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
        return True

    yield judge
    signal.signal(signal.SIGALRM, before)
