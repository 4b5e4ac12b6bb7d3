"""Work in progress: a failing test stops at what its author has not written yet."""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from heal_bot.core.model import CaseResult, Failure, Frame, Origin, Reproduced, SuiteRun, Target
from heal_bot.core.statuses import FailureStatus
from heal_bot.core.text import one_line
from heal_bot.ports import Tree
from heal_bot.source import functions, paths
from heal_bot.source.module_names import file_of, find_missing
from heal_bot.verification import raise_location
from heal_bot.verification.stale_test_history import is_touched

_WORDS = (r"todo|fixme|wip|work in progress|not yet (?:implemented|written)"
          r"|not (?:implemented|written) yet|unimplemented|coming soon")  # fmt: skip
# As a remark "Not Implemented" may be what a value means, 501 of HTTP for instance.
_LATER, _NOTE = (
    re.compile(rf"(?i){where}\b(?:{words})\b")
    for where, words in (("", rf"{_WORDS}|not (?:implemented|written)"), ("#.*", _WORDS))
)
_FAILS = re.compile(r"raise\s+AssertionError|assert\s+(?:False|0)\b|pytest\.fail|self\.fail")
_NO_METHOD = re.compile(r"(?:'(\w+)' object|type object '(\w+)') has no attribute '(\w+)'")
_NO_PARAMETER = re.compile(r"(?:.*?(\w+)\.)?(\w+)\(\) got an unexpected keyword argument '(\w+)'")
# What a source defines counts with its keyword too: only classes and functions of it are meant.
_WORD = re.compile(r"\w+")
_DEFINED = re.compile(r"\b(?:class|def) \w+")
# What a test says by itself, as against what an assertion compares.
_SAYS = frozenset({"NotImplementedError", "Failed", "AssertionError"})


def explain_unfinished(seen: CaseResult, tree: Tree) -> str:
    """What is not written yet; '' where code that is there is to blame."""
    own = [frame for frame in seen.frames if frame.origin is not Origin.LIBRARY]
    if not own or seen.kind not in _SAYS:
        return ""
    last = own[-1]
    line = raise_location.read_line(tree, last)
    target = raise_location.find_function(tree, last)
    name = f"{last.path}::{target.qualname if target else last.function}"
    if seen.kind != "NotImplementedError":
        if not (_FAILS.match(line) and _LATER.search(f"{seen.message} {line}")):
            return ""
    elif (
        not line.startswith("raise")
        or _is_stand_in(last, seen.test)
        or not (
            _is_stub(target, tree)
            # An old refusal that is reached may be a fault of what leads there.
            or (
                _LATER.search(seen.message) and last.line in tree.changed_lines().get(last.path, ())
            )
        )
    ):
        return ""
    return _describe(name, line)


def _is_stand_in(frame: Frame, test: str) -> bool:
    """Whether a function of the tests, and not the test itself, raises: nothing may call it."""
    own = test.partition("[")[0].rpartition("::")[2]
    return paths.is_test(frame.path) and frame.function.rpartition(".")[2] != own


def mark_unfinished(
    reproduced: Sequence[Reproduced], suite: SuiteRun, tree: Tree
) -> tuple[Reproduced, ...]:
    """The same, with tests `explained` that came with code whose author noted what it lacks yet."""
    # A new file that imports what is not there cannot be collected, as an outdated one.
    seen = [
        item if item.status != FailureStatus.STALE_TEST or not find_missing(item.failure.message)[1]
        else replace(item, status=FailureStatus.CONFIRMED)
        for item in reproduced
    ]  # fmt: skip
    new = [item.failure for item in seen if item.confirmed and is_touched(item.failure.test, tree)]
    open_ = tuple(_list_open(tree)) if new else ()
    calls = {f.test: found for f in new if (found := _find_call(f, tree))}
    words = _list_words(tree) if calls else set()
    reasons = {}
    for failure in new:
        if (call := calls.get(failure.test)) and _is_unknown(call, words):
            name = f"{call[0].partition(' ')[2]}.{call[1]}"
            reasons[failure.test] = _describe(name, failure.message)
        elif said := next(_find_executed(failure, open_, suite), ""):
            reasons[failure.test] = said
    return tuple(
        one.marked(FailureStatus.EXPLAINED, reasons) if item.failure.test in reasons else item
        for item, one in zip(reproduced, seen, strict=True)
    )


def _list_open(tree: Tree) -> Iterator[tuple[Target, str]]:
    """The functions that the commits wrote with a note such as TODO in them, or without a body."""
    for path, lines in sorted(tree.changed_lines().items()):
        if not path.endswith(".py") or paths.is_test(path):
            continue
        for target in functions.read(path, tree.read(path)):
            text = target.source.splitlines()
            changed = sorted(lines & set(range(target.first_line, target.last_line + 1)))
            notes = (text[at - target.first_line] for at in changed)
            note = next(filter(_NOTE.search, notes), "")
            if target.kind == "function" and (note or (changed and _is_stub(target, tree))):
                yield target, note


def _find_executed(
    failure: Failure, open_: Iterable[tuple[Target, str]], suite: SuiteRun
) -> Iterator[str]:
    """What a test executes of these functions; of one without a note, where the test names it."""
    executed = suite.spectrum.list_lines(failure.test) if suite.spectrum is not None else {}
    for target, note in open_:
        inside = range(target.first_line, target.last_line + 1)
        name = target.qualname.rpartition(".")[2].strip("_").lower()
        if not executed.get(target.path, set()).isdisjoint(inside) and (
            note or name in failure.test.lower()
        ):
            line = note or target.source.splitlines()[-1]
            yield _describe(f"{target.path}::{target.qualname}", line)


def _find_call(failure: Failure, tree: Tree) -> tuple[str, str] | None:
    """What a test itself asks for a name that it does not have, with its kind, and the name."""
    if any(frame.origin is Origin.PROJECT for frame in failure.frames):
        return None
    module, name = find_missing(failure.message)
    if name and file_of(module, tree.paths()):
        return f"module {module}", name
    if found := _NO_METHOD.match(failure.message):
        return f"class {found[1] or found[2]}", found[3]
    if found := _NO_PARAMETER.match(failure.message):
        made = found[2] == "__init__"
        return f"class {found[1]}" if made else f"def {found[2]}", found[3]
    return None


def _list_words(tree: Tree) -> set[str]:
    """The words of the sources, as they are and were before the commits; `class X` and `def f`."""
    sources = [path for path in tree.paths() if path.endswith(".py") and not paths.is_test(path)]
    data = (one for path in sources for one in (tree.read(path), tree.former(path) or b""))
    texts = [one.decode(errors="replace") for one in data]
    return {word for text in texts for kind in (_WORD, _DEFINED) for word in kind.findall(text)}


def _is_unknown(call: tuple[str, str], words: set[str]) -> bool:
    """Whether code of the project is asked for what no source names, nor one much like it."""
    owner, name = call
    close = difflib.get_close_matches(name, words, 1, 0.8)
    known = owner in words or owner.startswith("module ")
    return known and "__getattr__" not in words and not close


def _describe(name: str, line: str) -> str:
    return f"{name} is not written yet ({one_line(line, 120)}): write it, or mark the test as xfail"


def _is_stub(target: Target | None, tree: Tree) -> bool:
    """Whether nothing but a `raise` or `pass` is there that no class of the tree fills in."""
    if target is None:
        return False
    if (node := functions.parse_function(target.source)) is None:
        return False
    plain = [part for part in node.body if not _is_constant(part)]
    left = not plain or (len(plain) == 1 and isinstance(plain[0], ast.Raise | ast.Pass))
    if not left or node.decorator_list:
        return False
    owner = target.qualname.rpartition(".")[0].rpartition(".")[2]
    return not (owner and _has_heirs(owner, tree))


def _is_constant(node: ast.stmt) -> bool:
    """Whether a statement is a docstring, or `...`."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _has_heirs(name: str, tree: Tree) -> bool:
    """Whether a class of the tree derives from one of that name."""
    heir = re.compile(rf"^[ \t]*class\s+\w+\s*\([^)]*\b{re.escape(name)}\b".encode(), re.M)
    return any(heir.search(tree.read(path)) for path in tree.paths() if path.endswith(".py"))
