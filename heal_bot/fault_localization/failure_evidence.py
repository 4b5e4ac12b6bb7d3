"""What a failure itself tells: where it was raised, which results an assertion compared, names."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Literal

from heal_bot.core.model import Failure, Frame, Origin, Target
from heal_bot.fault_localization.target_index import Places
from heal_bot.source import functions, guard

_WHERE = re.compile(
    r"^[ \t+]*(?:where|and) +(?P<value>.{1,400}?) = "
    r"(?P<call><[^\n>]{0,300}>|[A-Za-z_][\w.]*)(?P<called>\()?",
    re.MULTILINE,
)
_OBJECT = re.compile(
    r"<(?:bound method|function|built-in function|class) '?(?P<name>[\w.<>]+?)'?"
    r"(?: of | at |>)"
)
_ASSERT = re.compile(
    r"^\s*(?:AssertionError: )?assert (?P<left>.{1,400}?) (?:==|!=|<=?|>=?|in|is|not)\s",
    re.MULTILINE,
)
# Two wordings of hypothesis: of older and of newer releases.
_EXAMPLE = re.compile(r"^(?:Falsifying example|Failing test case): \w+\(", re.MULTILINE)
_FIXTURE = re.compile(r"^\s*@[\w.]*fixture\b", re.MULTILINE)
_SETUPS = frozenset(
    """
    setUp setUpClass setUpModule asyncSetUp
    setup setup_method setup_class setup_module setup_function
    """.split()  # noqa: SIM905
)
# How pytest shows the frames of a file that it could not import.
_SHOWN = re.compile(
    r"^(?P<path>[^\s:][^:\n]{0,300}\.py):(?P<line>\d{1,7}): in (?P<function>\S+)$", re.M
)
_TOKEN = re.compile(r"[A-Za-z_]\w+")
Side = Literal["left", "right", "some"]


def weigh_frames(failure: Failure, places: Places) -> tuple[tuple[Target, float], ...]:
    """The project's functions on the traceback with a weight: 1 where it was raised, less above.

    Import-time code is named by the assignment that stands there.
    """
    found: dict[tuple[str, str, int, str], tuple[Target, float]] = {}
    weight = 1.0
    for frame in reversed(failure.frames or tuple(_shown(failure.message))):
        if not places.is_project(frame.path):
            continue
        target = places.running(frame.path, frame.line) or places.statement(frame.path, frame.line)
        if target is not None:
            key = (target.path, target.qualname, target.nth, target.kind)
            found.setdefault(key, (target, weight))
            weight = max(weight / 2, 0.1)
    return tuple(found.values())


def _shown(message: str) -> Iterator[Frame]:
    """The frames in the text of a failed import, which is all that is known of it."""
    for found in _SHOWN.finditer(message[:20_000]):
        yield Frame(found["path"], int(found["line"]), found["function"], Origin.PROJECT)


def find_fixture(failure: Failure, places: Places) -> tuple[Target, bool] | None:
    """The innermost fixture or set-up function on the traceback, and whether it raised itself."""
    itself = True
    for frame in reversed(failure.frames):
        if places.is_project(frame.path):
            itself = False
        elif places.is_test(frame.path):
            target = places.running(frame.path, frame.line)
            if target is not None and _is_fixture(target):
                return target, itself
    return None


def _is_fixture(target: Target) -> bool:
    name = target.qualname.rpartition(".")[2]
    return name in _SETUPS or _FIXTURE.search(target.source.partition("def ")[0]) is not None


def find_example(failure: Failure) -> str:
    """The arguments of the smallest failing example that hypothesis found; '' without."""
    found = _EXAMPLE.search(failure.message[:20_000])
    if found is None:
        return ""
    given: list[str] = []
    for line in failure.message[found.end() : found.end() + 2_000].splitlines():
        if line == ")":
            break
        given.append(line.partition("  #")[0].strip())
    return " ".join(given).strip(" ,)")[:200]


def find_raise_site(failure: Failure, places: Places) -> str:
    """The project function where the exception was raised, '' when it was the test itself."""
    for target, weight in weigh_frames(failure, places):
        if weight == 1.0:
            return f"{target.path}::{target.qualname}"
    return ""


def find_compared(message: str) -> Iterator[tuple[str, Side]]:
    """The names of functions whose results a failed assertion shows, and their side.

    Reads pytest's explanation (`where 3 = total([1, 2])`); addresses do not matter.
    """
    first = _ASSERT.search(message[:20_000])
    left = first.group("left").strip() if first else ""
    for match in _WHERE.finditer(message[:20_000]):
        if not match.group("called"):
            continue
        call = match.group("call")
        if call.startswith("<"):
            described = _OBJECT.match(call)
            if described is None:
                continue
            call = described.group("name")
        value = match.group("value").strip()
        side: Side = "some" if not left else "left" if left == value else "right"
        yield call.rpartition(".")[2], side


def test_words(failure: Failure) -> frozenset[str]:
    """The words of a test's name, lower case: `test_total_price` tells of total, price, both."""
    name = failure.test.rpartition("::")[2].partition("[")[0].lower().removeprefix("test_")
    parts = [part for part in name.split("_") if len(part) > 2]
    return frozenset({name, *parts, *("_".join(pair) for pair in pairwise(parts))})


def test_function(failure: Failure, places: Places) -> Target | None:
    """The function of a failing test; None when its source cannot be found."""
    path, _, rest = failure.test.partition("::")
    if not places.is_test(path):
        return None
    targets = tuple(entry.target for entry in places.entries(path))
    return functions.find_target(targets, rest.partition("[")[0].replace("::", "."))


def test_names(failure: Failure, places: Places) -> frozenset[str]:
    """The names a failing test's own body uses; empty when its source cannot be found."""
    test = test_function(failure, places)
    return collect_names(test) if test else frozenset()


def collect_names(target: Target) -> frozenset[str]:
    """Every name and attribute a target's source uses."""
    try:
        tree = guard.parse_part(target.source)
    except guard.SourceRejected:
        return frozenset(_TOKEN.findall(target.source))
    return frozenset(
        node.id if isinstance(node, ast.Name) else node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Name | ast.Attribute)
    )
