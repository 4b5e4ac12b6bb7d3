"""Code or test? What the history says of a red test, and of a patch that turns it green."""

from __future__ import annotations

import ast
import difflib
import re
from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from heal_bot.model import COMMAND, Edit, Failure, Origin, Reproduced, Spectrum, SuiteRun, Target
from heal_bot.ports import Tree
from heal_bot.source import functions, guard, paths, rails
from heal_bot.text import clip, one_line

# What a claim that no longer holds looks like; anything else is an exception of the code's.
CLAIMS = frozenset({"AssertionError", "Failed"})
_SHOWN = 3
# Where a project tells its users what is another now.
_TOLD = re.compile(r"(?i)(?:^|/)(?:change(?:s|log)|history|news|readme|release)[^/]*\Z"
                   r"|^docs?/.*\.(?:md|rst|txt)\Z")  # fmt: skip
# Shorter texts stand in any prose by accident.
_LITERAL = re.compile(r"'([^'\n]{4,})'|\"([^\"\n]{4,})\"")
_QUOTED = re.compile(r"[\"'`“‘]([^\"'`“”‘’]{4,})[\"'`”’]")
_WORD = re.compile(r"[A-Za-z_]\w*")


@dataclass(frozen=True, slots=True)
class _History:
    """What the commits under test changed: lines by path, the values they assign in those."""

    tree: Tree
    lines: dict[str, frozenset[int]]
    tests: frozenset[str] = frozenset()
    values: tuple[Target, ...] = ()

    def is_test(self, path: str) -> bool:
        """Whether a file holds tests, by its name or because they were collected from it."""
        return path in self.tests or rails.is_test(path)

    def touched(self, test: str) -> bool:
        """Whether the commits changed the function of a test."""
        path, _, rest = test.partition("::")
        changed = self.lines.get(path)
        if not changed:
            return False
        name = rest.partition("[")[0].replace("::", ".")
        target = functions.find(_targets(self.tree, path), name)
        if target is None:
            return True
        return any(target.first_line <= line <= target.last_line for line in changed)

    def refuses(self, failure: Failure) -> bool:
        """Whether what fails is a `raise` that the commits wrote: a claim, and no accident."""
        frames = [frame for frame in failure.frames if frame.origin is Origin.PROJECT]
        if not frames or frames[-1].line not in self.lines.get(frames[-1].path, ()):
            return False
        text = self.tree.read(frames[-1].path).decode(errors="replace").splitlines()
        line = text[frames[-1].line - 1] if frames[-1].line <= len(text) else ""
        return line.lstrip().startswith("raise ")

    def documents(self, target: Target, failure: Failure) -> bool:
        """Whether the commits say that a change is meant: in its docstring, or where they tell.

        Where they tell they show what the test got and does not know, whole or in quotes.
        """
        before = _former(self.tree, target)
        if before is not None and _docstring(before.source) != _docstring(target.source):
            return True
        got = _results(failure, self.tree)
        there = set(self.tree.paths())
        for path in filter(_TOLD.search, there.intersection(self.tree.changed_paths())):
            known = set((self.tree.former(path) or b"").decode(errors="replace").splitlines())
            now = self.tree.read(path).decode(errors="replace").splitlines()
            new = [line for line in now if line not in known]
            quoted = {text for line in new for text in _QUOTED.findall(line)}
            if any(text in line for text in got for line in new) or any(
                part in text for part in quoted for text in got
            ):
                return True
        return False

    def changed_by(self, test: str, spectrum: Spectrum) -> tuple[Target, ...]:
        """What the commits changed of the code a test runs: functions, and values these use."""
        hits = spectrum.hits.get(test, 0)
        ran: dict[str, set[int]] = {}
        for bit, (path, line) in enumerate(spectrum.locations):
            if hits >> bit & 1 and not self.is_test(path):
                ran.setdefault(path, set()).add(line)
        values = self._used(ran) if self.values else ()
        return (*values, *(t for t in _called(self.tree, ran, self.lines) if self.is_changed(t)))

    def _used(self, ran: Mapping[str, set[int]]) -> Iterator[Target]:
        """The changed values that a function which ran mentions.

        A class's own are mentioned where the class is: their names alone say too little.
        """
        words = {w for t in _called(self.tree, ran, ran) for w in _WORD.findall(t.source)}
        for target in self.values:
            near = target.kind == "assignment" or target.path in ran
            if near and target.qualname.rpartition(".")[2] in words:
                yield target

    def is_changed(self, target: Target) -> bool:
        """Whether the commits changed a line of the target."""
        lines = self.lines.get(target.path, frozenset())
        return any(target.first_line <= line <= target.last_line for line in lines)


def _history(tree: Tree, lines: dict[str, frozenset[int]], collected: Sequence[str]) -> _History:
    """The history with the values it changed: what modules and classes assign."""
    history = _History(tree, lines, paths.test_files(collected))
    code = [path for path in sorted(lines) if not history.is_test(path)]
    found = (target for path in code for target in _targets(tree, path))
    kinds = {"assignment", "class_attribute"}
    values = tuple(t for t in found if t.kind in kinds and history.is_changed(t))
    return replace(history, values=values)


def _called(tree: Tree, ran: Mapping[str, set[int]], paths: Container[str]) -> Iterator[Target]:
    """The functions of these files of which a line ran."""
    for path, lines in sorted(ran.items()):
        for target in _targets(tree, path) if path in paths else ():
            inside = any(target.first_line < line <= target.last_line for line in lines)
            if target.kind == "function" and inside:
                yield target


def told(reproduced: Sequence[Reproduced], suite: SuiteRun, tree: Tree) -> tuple[Reproduced, ...]:
    """The same, with confirmed failures that are the test's fault marked `stale_test`.

    A test is stale when the commits under test left it alone and changed a function it runs, or a
    value that a function it runs uses, say in words that this is meant, and all that fails is what
    it asserts, or a `raise` that the commits wrote.
    """
    confirmed = [item for item in reproduced if item.status == "confirmed"]
    changed = tree.changed_lines() if confirmed else {}
    if not changed or suite.spectrum is None:
        return tuple(reproduced)
    history = _history(tree, changed, suite.collected)
    ran = {
        item.failure.test: history.changed_by(item.failure.test, suite.spectrum)
        for item in confirmed
        if not history.touched(item.failure.test)
    }
    return tuple(
        _stale(item, history, ran) if item.status == "confirmed" else item for item in reproduced
    )


def is_touched(test: str, tree: Tree) -> bool:
    """Whether the commits under test changed the function of a test."""
    return _History(tree, tree.changed_lines()).touched(test)


def _stale(item: Reproduced, history: _History, ran: dict[str, tuple[Target, ...]]) -> Reproduced:
    failure = item.failure
    mine = ran.get(failure.test, ())
    # A command stands for tests that are not told apart: none of them can be called stale.
    if (
        failure.test == COMMAND
        or not mine
        or not (failure.kind in CLAIMS or history.refuses(failure))
    ):
        return item
    if not any(history.documents(target, failure) for target in mine):
        return item
    return replace(item, failure=replace(failure, reason=_claims(failure, mine, history)),
                   status="stale_test")  # fmt: skip


def _claims(failure: Failure, changed: Sequence[Target], history: _History) -> str:
    """What the test and the code each say, side by side."""
    target = changed[-1]
    sha = history.tree.changed_by(target.path)
    before = _former(history.tree, target)
    old, new = _statements(before.source if before else ""), _statements(target.source)
    said = one_line(failure.message, 200)
    was = "; ".join(list((Counter(old) - Counter(new)).elements())[:_SHOWN])
    now = "; ".join(list((Counter(new) - Counter(old)).elements())[:_SHOWN])
    return clip(
        f"commit {sha[:12] or 'under test'} changed {target.qualname} and left this test alone."
        f" The test claims: {said}. The code claims: `{now}`"
        + (f", before: `{was}`" if was else ""),
        2_000,
    )


def undone(edits: Sequence[Edit], tree: Tree) -> str:
    """The commit under test whose changes the edits take back, at least in one function; or ''.

    An edit takes a change back when what it removes was added by the commits under test and what
    it adds was removed by them, statement by statement, whatever the layout.
    """
    for edit in edits:
        target = edit.target
        if (before := _former(tree, target)) is not None:
            old, now = _statements(before.source), _statements(target.source)
            if _takes_back(old, now, _statements(edit.new_source)):
                return tree.changed_by(target.path) or tree.sha
    return ""


def _takes_back(old: Sequence[str], now: Sequence[str], new: Sequence[str]) -> bool:
    by_commit, by_patch = _changes(old, now), _changes(now, new)
    if not any(by_patch):
        return False
    (removed, added), (gone, come) = by_commit, by_patch
    return not (gone - added) and not (come - removed)


def _changes(old: Sequence[str], new: Sequence[str]) -> tuple[Counter[str], Counter[str]]:
    """The lines that go and the lines that come."""
    gone: Counter[str] = Counter()
    come: Counter[str] = Counter()
    matcher = difflib.SequenceMatcher(a=old, b=new, autojunk=False)
    for tag, a, b, c, d in matcher.get_opcodes():
        if tag != "equal":
            gone.update(old[a:b])
            come.update(new[c:d])
    return gone, come


def _former(tree: Tree, target: Target) -> Target | None:
    """The target as it was before the commits under test."""
    data = tree.former(target.path)
    if data is None:
        return None
    try:
        known = functions.index(target.path, guard.check(data))
    except guard.SourceRejected:
        return None
    return functions.find(known, target.qualname, target.kind, target.nth)


def _results(failure: Failure, tree: Tree) -> set[str]:
    """The texts that a test got, as far as they stand nowhere in its file."""
    try:
        known = tree.read(failure.test.partition("::")[0]).decode(errors="replace")
    except KeyError:
        known = ""
    texts = {a or b for a, b in _LITERAL.findall(failure.message)}
    return {text for text in texts if text not in known}


def _docstring(source: str) -> str:
    """What a function says of itself; '' where it says nothing."""
    try:
        node = guard.parse_part(source).body[0]
    except guard.SourceRejected:
        return ""
    inner = node.body[0] if isinstance(node, ast.If) else node
    known = isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef)
    return (known and ast.get_docstring(inner)) or ""  # type: ignore[arg-type]


def _targets(tree: Tree, path: str) -> tuple[Target, ...]:
    try:
        return functions.index(path, guard.check(tree.read(path)))
    except (guard.SourceRejected, KeyError):
        return ()


def _statements(source: str) -> list[str]:
    """The source line by line in one layout, without comments."""
    indented = bool(functions.indentation(source))
    try:
        tree = guard.parse_part(source)
    except guard.SourceRejected:
        return [line.strip() for line in source.splitlines() if line.strip()]
    return [line.strip() for line in ast.unparse(tree).splitlines()[indented:]]
