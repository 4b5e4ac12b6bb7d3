"""Code or test? What the commit that broke a test says of it, and what a patch undoes."""

from __future__ import annotations

import ast
import difflib
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from heal_bot.core.model import (
    COMMAND,
    Baseline,
    ChangedFile,
    Edit,
    Failure,
    History,
    Regression,
    Target,
)
from heal_bot.core.statuses import CLAIMS, FailureStatus
from heal_bot.core.text import clip, one_line
from heal_bot.ports import Tree
from heal_bot.source import functions, guard, paths
from heal_bot.source.change_intent import is_claimed, list_added_lines
from heal_bot.source.parsed_version import parse_code
from heal_bot.source.reversal import brought_tests
from heal_bot.source.tree_files import find_test, list_targets, read_text
from heal_bot.verification import interface_changes
from heal_bot.verification.dependency_causes import says_deprecated

_SHOWN = 3
_WORD = re.compile(r"\w+")
# A function or value before and after a commit that changed it.
_Pair = tuple[Target | None, Target]
# Shorter texts stand in any prose by accident.
_LITERAL = re.compile(r"(?<![\w'\"])[bru]{0,2}(?:'([^'\n]{4,})'|\"([^\"\n]{4,})\")(?!\w)")
# What ends a quotation begins none.
_QUOTED = re.compile(r"(?:^|(?<=[\s(\[:=*]))[\"'`“‘]+([^\"'`“”‘’]{4,})[\"'`”’]")


def find_outdated(baseline: Baseline, history: History, tree: Tree) -> Baseline:
    """The baseline, with the tests that contradict what a commit says it means `stale_test`.

    The commit is shown to have broken the test, left it alone, and says in words that the change is
    meant: in the docstring of what it changed, or where a project tells its users, it is the first
    to show what the test got, whole or a part of it in quotes. That counts for the other tests of
    the same changed function too. All that fails is what the test asserts, or a `raise` that the
    commit wrote. Or the commit itself warns of what will go, where warnings are errors. Or the
    test uses an interface in its old form, whose other callers the commit adapted.
    """
    reasons: dict[str, str] = {}
    for regression in history.regressions:
        broken = [f for f in baseline.confirmed if f.test in regression.tests]
        left = [f for f in broken if _is_left_behind(f, regression, tree)]
        pairs = [pair for file in regression.files for pair in _changed(file)]
        tested = {f.test: _find_tested(f, pairs, tree) for f in left}
        told = {f.test: path for f in left if (path := _find_telling(f, regression, tree))}
        meant = frozenset().union(*(tested[test] for test in told))
        for failure in left:
            names = tested[failure.test]
            if failure.test in told or names & meant or _is_warned(failure, pairs, tree):
                about = [p for p in pairs if _name(p) in (names & meant or names)]
                alike = (told[test] for test in told if tested[test] & names)
                where = told.get(failure.test) or next(alike, "")
                reasons[failure.test] = _claims(failure, regression, about, where)
        reasons |= dict(_of_interfaces(broken, regression, tree))
    marked = baseline.marked(FailureStatus.STALE_TEST, reasons)
    return replace(marked, outdated=tuple(reasons))


def _of_interfaces(
    broken: Sequence[Failure], regression: Regression, tree: Tree
) -> Iterator[tuple[str, str]]:
    """The tests of what the commit changed with its other callers, or took away, and why."""
    brought = brought_tests(regression.files)
    for failure in broken:
        test = find_test(tree, failure.test)
        if test is None or failure.test.partition("[")[0] in brought:
            continue
        if used := interface_changes.find_left_behind(failure, test, regression.files):
            claim = f"changed `{used}` together with what calls it, and left this test alone"
        elif used := interface_changes.find_new_class(failure, test, regression.files):
            claim = f"gives this test a `{used}`, a class that it brought, and left the test alone"
        elif used := interface_changes.find_removed(failure, test, regression.files, tree):
            claim = f"took `{used}` away, which only tests still use, and left this test alone"
        else:
            continue
        said = one_line(failure.message, 200)
        yield failure.test, f"{regression.said}. The commit {claim}: {said}"


def _is_left_behind(failure: Failure, regression: Regression, tree: Tree) -> bool:
    """Whether a test that the commit left alone fails for what it, or the commit, claims."""
    # A command stands for tests that are not told apart: none of them can be called stale.
    if failure.test == COMMAND or failure.test.partition("[")[0] in brought_tests(regression.files):
        return False
    return is_claimed(failure, regression, tree)


def _find_telling(failure: Failure, regression: Regression, tree: Tree) -> str:
    """The file in which the commit was the first to show, in words, what the test got; or ''."""
    got = _results(failure, tree)
    return next((
        path for path, before, line in _said(regression.files)
        for text in got
        if (_stands_in(text, line) and text not in before)
        or any(_stands_in(part, text) and part not in before for part in _QUOTED.findall(line))
    ), "")  # fmt: skip


def _stands_in(part: str, text: str) -> bool:
    """Whether a part stands in a text, not as a piece of a word."""
    return part in text and bool(re.search(rf"(?<!\w(?=\w)){re.escape(part)}(?!(?<=\w)\w)", text))


def _said(files: Sequence[ChangedFile]) -> Iterator[tuple[str, str, str]]:
    """Each line that a commit brought to docs and docstrings, after path and text before it."""
    for file in files:
        if paths.tells_users(file.path):
            before = file.before.decode(errors="replace")
            yield from ((file.path, before, line) for line in list_added_lines(file))
        for old, new in _changed(file):
            was = functions.read_docstring(old.source) if old is not None else ""
            lines = functions.read_docstring(new.source).splitlines() if old is not None else ()
            yield from ((file.path, was, line) for line in lines if line not in was)


def _results(failure: Failure, tree: Tree) -> set[str]:
    """The texts, or the exception, that a test got, as far as they stand nowhere in its file."""
    known = read_text(tree, failure.test.partition("::")[0])
    texts = {a or b for a, b in _LITERAL.findall(failure.message)}
    texts |= {failure.kind} - CLAIMS - {""}
    return {text for text in texts if text not in known}


def _find_tested(failure: Failure, pairs: Sequence[_Pair], tree: Tree) -> frozenset[str]:
    """The changed functions that a test, or a helper in its file, names; the only one there is."""
    words = _list_test_words(failure, tree)
    named = {_name(pair) for pair in pairs if {*pair[1].qualname.split(".")} & words}
    return frozenset(named if len(pairs) > 1 else map(_name, pairs))


def _list_test_words(failure: Failure, tree: Tree) -> set[str]:
    """The words of a test and of the helpers in its file that it names."""
    targets = list_targets(tree, failure.test.partition("::")[0])
    test = find_test(tree, failure.test)
    words = set(_WORD.findall(test.source if test else ""))
    helpers = (t.source for t in targets if t.qualname.rpartition(".")[2] in words)
    return words.union(*map(_WORD.findall, helpers))


def _is_warned(failure: Failure, pairs: Sequence[_Pair], tree: Tree) -> bool:
    """Whether the changed code warns a test of what will go, and the test names it, if it does."""
    if not says_deprecated(failure.kind, failure.message):
        return False
    said = set(_WORD.findall(failure.message))
    changed = [new for _, new in pairs if new.kind == "function"]
    nodes = [node for new in changed for node in ast.walk(guard.parse_part(new.source))]
    known = {getattr(n, "id", getattr(n, "arg", getattr(n, "name", ""))) for n in nodes}
    return not said & known or bool(said & known & _list_test_words(failure, tree))


def _name(pair: _Pair) -> str:
    """What names a changed function or value in the whole of a project."""
    return f"{pair[1].path}::{pair[1].qualname}"


def _claims(failure: Failure, regression: Regression, pairs: Sequence[_Pair], where: str) -> str:
    """What the test and the code each say, side by side, and where the commit tells of it."""
    told = f"{regression.said}. The commit left this test alone and tells of the change"
    told += f" in {where}" if where else ""
    if not pairs:
        return told
    before, now = pairs[-1]
    old, new = (_list_code(one.source) if one else [] for one in (before, now))
    was = "; ".join(list((Counter(old) - Counter(new)).elements())[:_SHOWN])
    is_ = "; ".join(list((Counter(new) - Counter(old)).elements())[:_SHOWN])
    said = one_line(failure.message, 200).rstrip(".")
    claims = f"The test: {said}. {now.qualname} now: `{is_}`" + (
        f", before: `{was}`" if was else ""
    )
    return clip(f"{told}. {claims}", 2_000)


def _changed(file: ChangedFile) -> Iterator[_Pair]:
    """The functions and values of a source that a commit changed, as they were and are."""
    if paths.is_test(file.path) or not file.path.endswith(".py"):
        return
    known = functions.read(file.path, file.before)
    for target in functions.read(file.path, file.after):
        before = functions.find_same(target, known)
        if before is None or before.source != target.source:
            yield before, target


def is_touched(test: str, tree: Tree) -> bool:
    """Whether the commits under test changed the function of a test."""
    lines = tree.changed_lines().get(test.partition("::")[0], frozenset())
    target = find_test(tree, test) if lines else None
    if target is None:
        return bool(lines)
    return any(target.first_line <= line <= target.last_line for line in lines)


def find_undone(edits: Sequence[Edit], tree: Tree) -> str:
    """The commit under test whose changes the edits take back, at least in one function; or ''.

    An edit takes a change back when what it removes was added by the commits under test and what
    it adds was removed by them, statement by statement, whatever the layout.
    """
    for edit in edits:
        if _puts_back(edit, tree):
            return tree.changed_by(edit.target.path) or tree.sha
    return ""


def is_former(edits: Sequence[Edit], tree: Tree) -> bool:
    """Whether edits put lines back where they stood before the commits under test, and no more."""
    return not any(edit.imports for edit in edits) and all(_restores(e, tree) for e in edits)


def _restores(edit: Edit, tree: Tree) -> bool:
    """Whether each place that an edit changes becomes what it was, whole and in its order."""
    if (before := _former(tree, edit.target)) is None:
        return False
    old, now, new = (_lines(s) for s in (before.source, edit.target.source, edit.new_source))
    return now != new and _places(now, new) <= _places(now, old)


def _places(now: Sequence[str], other: Sequence[str]) -> set[tuple[int, int, tuple[str, ...]]]:
    """The lines that differ, from, to, and those in their place; one by one where as many."""
    found: set[tuple[int, int, tuple[str, ...]]] = set()
    matcher = difflib.SequenceMatcher(a=now, b=other, autojunk=False)
    for tag, a, b, c, d in matcher.get_opcodes():
        if tag == "replace" and b - a == d - c:
            found |= {(a + n, a + n + 1, (other[c + n],)) for n in range(b - a)}
        elif tag != "equal":
            found.add((a, b, tuple(other[c:d])))
    return found


def _puts_back(edit: Edit, tree: Tree) -> bool:
    """Whether an edit takes a change of the commits under test back, and does nothing else."""
    if (before := _former(tree, edit.target)) is None:
        return False
    sources = (before.source, edit.target.source, edit.new_source)
    return _takes_back(*map(_statements, sources))


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
    return None if data is None else functions.find_same(target, functions.read(target.path, data))


def _list_code(source: str) -> list[str]:
    """The statements of a source without its docstrings."""
    text = f"if 1:\n{source}" if functions.find_indentation(source) else source
    try:
        lines = ast.unparse(parse_code(text)).splitlines()
    except (guard.SourceRejected, SyntaxError):
        return _statements(source)
    return [line.strip() for line in lines if line.strip(" '\"") not in {"", "if 1:"}]


def _statements(source: str) -> list[str]:
    """The source line by line in one layout, without comments, indentation and empty lines."""
    return [text for line in _lines(source) if (text := line.strip())]


def _lines(source: str) -> list[str]:
    """The source line by line in one layout, without comments."""
    indented = bool(functions.find_indentation(source))
    try:
        tree = guard.parse_part(source)
    except guard.SourceRejected:
        return [line for line in source.splitlines() if line.strip()]
    return ast.unparse(tree).splitlines()[indented:]
