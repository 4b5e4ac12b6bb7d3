"""What a model asks to look at: code, a search, values, a few lines that are run."""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, model_validator

from heal_bot.core.errors import HealBotError
from heal_bot.core.events import Run
from heal_bot.core.model import Edit, Failure, Frame, Origin, Target
from heal_bot.ports import Brief
from heal_bot.repair.llm.local_variable_trace import OFFLINE, make_watcher
from heal_bot.repair.llm.prompt_context import FOLLOWED
from heal_bot.source import edit, functions, guard, paths
from heal_bot.source.allowed_paths import permits
from heal_bot.source.name_resolution import Symbol
from heal_bot.source.references import References

MOST = 6
# What the sandbox shows of the beginning of an output is a little more.
_PRINTED = 3_900
_CODE = 12_000
_NEAR = 400
_SEARCH = """
import pathlib, re

wanted, top = re.compile({pattern!r}), pathlib.Path({path!r})
files = [top] if top.is_file() else sorted(top.rglob("*"))
found, count = {{}}, 0
for file in files:
    if file.is_file() and not any(part.startswith((".", "__pyc")) for part in file.parts):
        lines = file.read_text(errors="replace").splitlines()
        hits = [at for at, line in enumerate(lines) if wanted.search(line)]
        count += len(hits)
        if hits:
            found[file] = lines, hits
# Few lines are shown with those around them, and marked.
around = 2 if count <= 8 else 0
rows = [
    f"{{file}}:{{at + 1}}:{{'>' if around and at in hits else ''}} {{lines[at][:160]}}"
    for file, (lines, hits) in found.items()
    for at in sorted({{at for hit in hits for at in range(hit - around, hit + around + 1)}})
    if 0 <= at < len(lines)
]
left = "; the rest is left out: name a path" if len(rows) > 40 else ""
print(*rows[:40], f"{{count}} lines match{{left}}", sep="\\n")
"""
_TESTS = """
import importlib.util

options = ["-q", "--no-header", "--tb=short", "-p", "no:cacheprovider", "-p", "no:heal-bot"]
options += ["-n0"] if importlib.util.find_spec("xdist") else []
raise SystemExit(pytest.main([*options, *{tests!r}], plugins=[Offline()]))
"""
Text = Annotated[str, Field(max_length=8_000)]
Number = Annotated[int, Field(ge=0, le=10_000_000)]


class CodeLook(BaseModel):
    """One thing to look at; which fields count depends on the tool."""

    model_config = ConfigDict(extra="ignore", frozen=True)
    tool: Text
    code: Text = ""
    text: Text = ""
    regex: Text = ""
    path: Text = ""
    name: Text = ""
    test: Text = ""
    tests: tuple[Text, ...] = ()
    line: Number = 0
    first: Number = 0
    last: Number = 0
    attempt: Number = 0

    @model_validator(mode="before")
    @classmethod
    def _flat(cls, value: object) -> object:
        """`"text": {"regex": "..."}`, as some read the rule, is what is in it."""
        if isinstance(value, dict) and isinstance(inner := value.get("text"), dict):
            return {**value, "text": "", **inner}
        return value


class LookRequest(BaseModel):
    """What a model wants to see, or why it takes nothing in the code for the fault."""

    model_config = ConfigDict(extra="ignore", frozen=True)
    looks: tuple[CodeLook, ...] = ()
    no_fault: Text = ""

    @model_validator(mode="after")
    def _says_something(self) -> LookRequest:
        if not self.looks and not self.no_fault.strip():
            raise ValueError("neither looks nor no_fault are in it")
        return self


@dataclass(frozen=True, slots=True)
class SeenCode:
    """What a look was for and what it showed.

    `targets` are those among it that may change, `closed` says why there are none.
    """

    asked: str
    shown: str
    targets: tuple[Target, ...] = ()
    closed: str = ""


def take_looks(
    run: Run, looks: Sequence[CodeLook], brief: Brief, edits: Sequence[Edit] = ()
) -> Iterator[SeenCode]:
    """What each look shows, with these edits made where code is run; of too many the first."""
    for look in looks[:MOST]:
        if not run.over():
            yield _seen(look, brief, edits)
    if len(looks) > MOST:
        yield SeenCode(f"{len(looks) - MOST} more looks", f"not taken: {MOST} at a time are")


def _seen(look: CodeLook, brief: Brief, edits: Sequence[Edit]) -> SeenCode:
    path = PurePosixPath(look.path)
    known = [failure.test for failure in brief.cluster.failures]
    if path.is_absolute() or ".." in path.parts:
        return SeenCode(f"{look.tool} {look.path}", "this path lies outside of the project")
    if look.tool == "show":
        return show_code(look.path, brief, look.name, look.first or look.line, look.last)
    if look.tool == "run":
        asked, code = f"run\n{look.code}", look.code
    elif look.tool == "search":
        asked = f"search {look.text or look.regex} in {look.path or 'the project'}"
        pattern = re.escape(look.text) or look.regex
        code = _SEARCH.format(pattern=pattern, path=look.path or ".")
    elif look.tool == "values":
        test = look.test if look.test in known else known[0]
        asked = f"values at {look.path}:{look.line} in {test}"
        code = make_watcher(look.path, look.line, test)
    elif look.tool == "tests":
        tests = [test for test in (look.test, *look.tests) if test in known] or known[:5]
        asked, code = f"tests {' '.join(tests)}", OFFLINE + _TESTS.format(tests=tests)
    else:
        return SeenCode(look.tool, "there is no such tool: search, show, values, run, tests are")
    return _ran(look, asked, code, brief, edits)


def _ran(look: CodeLook, asked: str, code: str, brief: Brief, edits: Sequence[Edit]) -> SeenCode:
    """What a program prints, on the code as a look wants it."""
    if look.attempt:
        chosen = [one for one in brief.attempts if one.number == look.attempt]
        if not chosen or not chosen[0].candidate.edits:
            return SeenCode(asked, f"attempt {look.attempt} is none that can be made")
        edits = chosen[0].candidate.edits
        asked = f"with attempt {look.attempt} made: {asked}"
    if brief.lab is None:
        return SeenCode(asked, "there is no sandbox to run anything in")
    made = {one.target: one for one in (*brief.base, *edits)}
    try:
        seen = brief.lab.snippet(code, tuple(made.values()))
    except HealBotError as error:
        return SeenCode(asked, f"could not be run: {error}")
    output, ended = seen.output.strip(), ""
    if (seen.how, seen.code) != ("exited", 0):
        # The last line says most of a program that failed.
        said = f": {output.rpartition(chr(10))[2][:_NEAR]}" if len(output) > _PRINTED else ""
        ended = f"\n({seen.how} with code {seen.code}{said})"
    return SeenCode(asked, f"printed:\n{cut_text(output, _PRINTED) or 'nothing'}{ended}")


def cut_text(text: str, most: int) -> str:
    """The beginning of a text as whole lines, with a note where it does not end."""
    if len(text) <= most:
        return text
    kept = text[:most].rpartition("\n")[0] or text[:most]
    return f"{kept}\n[cut here: what follows is not shown; ask for less, or for a part of it]"


def show_code(path: str, brief: Brief, name: str = "", first: int = 0, last: int = 0) -> SeenCode:
    """The lines of a function, class or file, and what of it may be changed."""
    try:
        text = edit.text_of(brief.tree, path)
    except HealBotError:
        return SeenCode(f"show {path}", "there is no such file in the project")
    try:
        targets = functions.index_targets(path, text)
    except guard.SourceRejected:
        targets = ()
    rows = functions.split_lines(text.removeprefix("\ufeff"))
    name = name.replace("::", ".")
    if name:
        span = _span(text, targets, name)
        if span is None:
            near = difflib.get_close_matches(name, [t.qualname for t in targets], cutoff=0.5)
            said = f"it has no {name}; what comes near: {', '.join(near) or 'nothing'}"
            return SeenCode(f"show {path}::{name}", said)
        first, last = span
    first, last = max(first, 1), min(last or len(rows), len(rows))
    shown = cut_text("".join(rows[first - 1 : last]), _CODE)
    if "[cut here" in shown.rpartition("\n")[2]:
        last = first + shown.count("\n") - 1
    whole = (t for t in targets if first <= t.first_line and t.last_line <= last)
    closed = _explain_closed(path, brief)
    called = frozenset() if closed else _list_called(brief)
    open_to = (t for t in whole if t.kind != "default")
    may = tuple(t for t in open_to if Symbol(path, t.qualname) in called or _is_open(t, brief))
    where = f"{path}::{name}, " if name else f"{path}, "
    asked = f"show {where}lines {first}-{last} of {len(rows)}"
    unused = "no failing test executes it, no suspect calls it"
    return SeenCode(asked, shown.rstrip("\n"), may, "" if may else closed or unused)


def _span(text: str, targets: Sequence[Target], name: str) -> tuple[int, int] | None:
    """The lines of what has that name: a target, else a class."""
    for target in targets:
        if target.qualname == name and target.kind != "default":
            return target.first_line, target.last_line
    if not targets:
        return None
    for node in ast.walk(guard.parse(text)):
        if isinstance(node, ast.ClassDef) and node.name == name.rpartition(".")[2]:
            return functions.first_line(node), node.end_lineno or node.lineno
    return None


def _list_called(brief: Brief) -> frozenset[Symbol]:
    """What the likeliest suspects use, which a test that fails early may not come to."""
    references = References.of(brief.tree)
    near = (suspect.target for suspect in brief.cluster.suspects[:FOLLOWED])
    return frozenset(use for target in near for use in references.uses(target))


def _is_open(target: Target, brief: Brief) -> bool:
    """Whether the failing tests execute a target that a patch may change."""
    path = target.path
    if _explain_closed(path, brief):
        return False
    failures = brief.cluster.failures
    lines = {f.line for one in failures for f in one.frames if f.path == path}
    if (ran := brief.spectrum) is not None:
        lines.update(ran.list_lines(*(one.test for one in failures)).get(path, ()))
    if target.kind != "function":
        return bool(lines)
    body = functions.body_lines(edit.text_of(brief.tree, path), target)
    return any(line in body for line in lines)


def _explain_closed(path: str, brief: Brief) -> str:
    """Why nothing of a file may change; '' where a piece that the failing tests execute may."""
    if any(failure.broken for failure in brief.cluster.failures):
        return "source that does not parse or import changes by its lines"
    if not permits(brief.paths, path):
        return "the project lets no repair change this file"
    if paths.is_test(path) or paths.is_protected(path):
        return "tests, build files and configuration cannot be changed"
    if path in paths.find_machinery(brief.tree):
        return "pytest or the build loads this file as part of itself: it cannot be changed"
    return ""


def find_implicated(
    failures: Sequence[Failure], brief: Brief, known: Sequence[Target]
) -> list[SeenCode]:
    """The functions that failures after an attempt newly name, as a look would show them."""
    seen: dict[Target, SeenCode] = {}
    before = {(f.path, f.function) for one in brief.cluster.failures for f in one.frames}
    for frame in (frame for failure in failures for frame in reversed(failure.frames)):
        if frame.origin is Origin.LIBRARY or (frame.path, frame.function) in before:
            continue
        target = _function(frame, brief)
        if target is not None and target not in known:
            shown = show_code(frame.path, brief, target.qualname)
            closed = _explain_closed(frame.path, brief)
            seen[target] = replace(shown, targets=() if closed else (target,), closed=closed)
    return list(seen.values())[:2]


def _function(frame: Frame, brief: Brief) -> Target | None:
    """The function of a frame, whose lines an attempt may have moved."""
    try:
        targets = functions.index_targets(frame.path, edit.text_of(brief.tree, frame.path))
    except HealBotError:
        return None
    named = [t for t in targets if t.kind == "function"
             and t.qualname.rpartition(".")[2] == frame.function]  # fmt: skip
    return min(named, key=lambda t: abs(t.first_line - frame.line), default=None)
