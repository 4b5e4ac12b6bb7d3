"""Failing tests as a model is shown them: source, fixtures, the classes and helpers used."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from heal_bot.core.model import Cluster, Failure, Target
from heal_bot.ports import Brief
from heal_bot.source import edit, functions, paths
from heal_bot.source.name_resolution import Symbol
from heal_bot.source.references import CLASS, References

_CASES = 3
_FIXTURES = 12
# How many steps a helper may be away from the test.
_STEPS = 3
_PASSING = 4
# A longer class is shown by what of it is used.
_SHORT = 40
_SETUPS = ("setUpClass", "setUp", "asyncSetUp", "setup_class", "setup_method", "setup")
_FIXTURE = re.compile(r"^\s*@[\w.]*fixture\b", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Failing:
    """Failing cases of one test function, its source, and what of the tests it stands on.

    `source` has `>` before the lines at which it failed. `fixtures` are the sources of these:
    fixtures, set-up methods, helpers, classes, constants. What an earlier test was shown with is
    not shown again.
    """

    failures: tuple[Failure, ...]
    hidden: int
    source: str
    fixtures: tuple[str, ...]


def find_failing(cluster: Cluster, references: References) -> tuple[Failing, ...]:
    """The failing tests of a cluster by test function."""
    groups: defaultdict[str, list[Failure]] = defaultdict(list)
    for failure in cluster.failures:
        groups[failure.test.partition("[")[0]].append(failure)
    found, seen = [], set[tuple[str, int]]()
    for name, failures in groups.items():
        path, *parts = name.split("::")
        tests = references.definitions(Symbol(path, ".".join(parts)))
        head = _class_head(tests[-1], references) if tests else ""
        source = head + _marked(tests[-1], failures) if tests else ""
        seen |= {(one.path, one.first_line) for one in tests}
        support = _support(tests[-1], references) if tests else ()
        new = {(one.path, one.first_line): one for one in support}
        sources = tuple(one.source for place, one in new.items() if place not in seen)
        seen |= set(new)
        hidden = max(0, len(failures) - _CASES)
        found.append(Failing(tuple(failures[:_CASES]), hidden, source, sources))
    return tuple(found)


def find_passing(brief: Brief, target: Target, references: References) -> tuple[Target, ...]:
    """A few tests that pass and run a function: those that run little else, near the failing ones.

    Where nothing is known of what they execute, short ones that name it.
    """
    if target.kind != "function":
        return ()
    red = {failure.test.partition("[")[0] for failure in brief.cluster.failures}
    near = {test.partition("::")[0] for test in red}
    green = {test for test in brief.passed if test.partition("[")[0] not in red}
    work = _work(brief, target, green) or _named_in(target, green, references)
    best: dict[str, int] = {}
    for test, amount in work.items():
        name = test.partition("[")[0]
        best[name] = min(amount, best.get(name, amount))
    order = sorted(best, key=lambda name: (name.partition("::")[0] not in near, best[name], name))
    found: list[Target] = []
    for name in order:
        path, *parts = name.split("::")
        found += references.definitions(Symbol(path, ".".join(parts)))[-1:]
        if len(found) >= _PASSING:
            break
    return tuple(found)


def _work(brief: Brief, target: Target, tests: Iterable[str]) -> dict[str, int]:
    """How many lines each of the tests executes that come by the body of a function."""
    if brief.spectrum is None:
        return {}
    # Not the header: a test that imports the module first executes that, and nothing else of it.
    inside = functions.body_lines(edit.text_of(brief.tree, target.path), target)
    ran = brief.spectrum.find_hits((target.path, inside))
    return {test: brief.spectrum.hits[test].bit_count() for test in ran.keys() & set(tests)}


def _named_in(target: Target, tests: Iterable[str], references: References) -> dict[str, int]:
    """The lengths of those of the tests that name a function, or its class for `__init__`."""
    owner, _, name = target.qualname.rpartition(".")
    wanted = owner.rpartition(".")[2] if name in {"__init__", "__new__"} else name
    word = re.compile(rf"\b{re.escape(wanted)}\b")
    files = {test.partition("::")[0] for test in tests}
    known = {path for path in files if word.search(references.names.text(path))}
    lengths = {
        f"{path}::{one.qualname.replace('.', '::')}": len(one.source)
        for path in known
        for one in references.targets(path)
        if word.search(one.source)
    }
    return {t: lengths[name] for t in tests if (name := t.partition("[")[0]) in lengths}


def _marked(test: Target, failures: Sequence[Failure]) -> str:
    """The source of a test with `>` before each line at which one of the failures left it."""
    left: set[int] = set()
    for failure in failures:
        inside = range(test.first_line, test.last_line + 1)
        here = [f.line for f in failure.frames if f.path == test.path and f.line in inside]
        left.update(line - test.first_line for line in here[-1:])
    lines = functions.split_lines(test.source)
    return "".join(f">{one[1:]}" if n in left else one for n, one in enumerate(lines))


def _class_head(test: Target, references: References) -> str:
    """The decorators of the test's class, which may give it parameters, with its first line."""
    owner = Symbol(test.path, test.qualname.rpartition(".")[0])
    node = references.names.first(owner)
    if not isinstance(node, ast.ClassDef) or not node.decorator_list:
        return ""
    (found, *_) = references.definitions(owner)
    return "".join(functions.split_lines(found.source)[: node.lineno - found.first_line + 1])


def _support(test: Target, references: References) -> Iterator[Target]:
    """What of the test files a test stands on, near things first."""
    level, known = [test], {Symbol(test.path, test.qualname)}
    whole: list[Target] = []
    for _ in range(_STEPS):
        symbols = [symbol for one in level for symbol in _next(one, test, references)]
        level = []
        for symbol in dict.fromkeys(symbols):
            if symbol in known or not _is_test(symbol.path, test):
                continue
            known.add(symbol)
            for one in references.definitions(symbol):
                if not any(holds(other, one) for other in (test, *whole)):
                    short = one.last_line - one.first_line < _SHORT
                    if one.kind == CLASS and not short:
                        continue
                    whole.append(one)
                    level.append(one)
                    yield one


def _next(one: Target, test: Target, references: References) -> Iterator[Symbol]:
    """What runs before or within a test or something that it uses."""
    owner = one.qualname.rpartition(".")[0]
    if one is test:
        members = (references.names.member(Symbol(test.path, owner), name) for name in _SETUPS)
        yield from (member for member in members if owner and member)
    yield from _fixtures(one, test, references)
    yield from references.uses(one)


def _fixtures(one: Target, test: Target, references: References) -> Iterator[Symbol]:
    """The fixtures that a test or fixture takes, and those that run without being named."""
    match = re.search(r"def\s+\w+\s*\(([^)]*)\)", one.source)
    wanted = re.findall(r"\w+", match[1])[:_FIXTURES] if match else []
    folders = test.path.split("/")[:-1]
    above = range(len(folders), -1, -1)
    owner = test.qualname.rpartition(".")[0]
    for place in (test.path, *("/".join([*folders[:n], "conftest.py"]) for n in above)):
        for other in references.targets(place):
            head = other.source.partition("def ")[0]
            home, _, name = other.qualname.rpartition(".")
            if _FIXTURE.search(head) and home in {"", owner}:
                if name in wanted:
                    wanted.remove(name)
                    yield Symbol(place, other.qualname)
                elif "autouse=True" in head and one is test:
                    yield Symbol(place, other.qualname)


def _is_test(path: str, test: Target) -> bool:
    return path == test.path or paths.is_test(path)


def holds(outer: Target, inner: Target) -> bool:
    """Whether the lines of one are among those of another."""
    same = outer.path == inner.path
    return same and outer.first_line <= inner.first_line <= inner.last_line <= outer.last_line
