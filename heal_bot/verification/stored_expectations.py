"""Red tests whose expectation is kept elsewhere: snapshots, golden files, doctest output.

Of these a failure says that the output is another, and not which of the two is right.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from heal_bot.core.model import (
    Baseline,
    Failure,
    Regression,
    Reproduced,
    SuiteRun,
    Target,
)
from heal_bot.core.statuses import FailureStatus
from heal_bot.ports import Tree
from heal_bot.source import change_intent, doctest_output, functions, guard, paths
from heal_bot.source.tree_files import list_targets, read_text
from heal_bot.verification import raise_location

_DOCTESTS = frozenset({"DocTestFailure", "MultipleDoctestFailures"})
_STORED = re.compile(r"(?i)golden|snapshot|approved|baseline|reference|expected|__snapshots__")
_READS = re.compile(r"\bread_text\(|\bread_bytes\(|\bopen\(|\bjson\.load|\.read\(")
_OPTION = re.compile(r"['\"](--[\w-]*(?:update|regen|overwrite|accept|bless|rewrite)[\w-]*)['\"]")
_SWITCH = re.compile(
    r"['\"]([A-Z][A-Z0-9_]*(?:UPDATE|REGEN|OVERWRITE|ACCEPT|BLESS|REWRITE)"
    r"[A-Z0-9_]*|(?:UPDATE|REGEN|OVERWRITE|ACCEPT|BLESS|REWRITE)[A-Z0-9_]*)['\"]"
)


@dataclass(frozen=True, slots=True)
class _Kind:
    """A way of keeping what is expected: what its failure says, and the cure.

    With a module as `source` the assertion says it, in a file that imports the module.
    """

    name: str
    said: re.Pattern[str]
    cure: str
    source: str = ""


_KINDS = (
    _Kind("syrupy", re.compile(r"\[[-+] (?:snapshot|received)\]|[Ss]napshot '[^']*' does not"),
          "pytest --snapshot-update"),
    _Kind("pytest-snapshot", re.compile(r"--snapshot-update|expected value in snapshot "),
          "pytest --snapshot-update"),
    _Kind("pytest-regressions", re.compile(r"--force-regen|^(?:\w+: )?FILES DIFFER:"
                                           r"|Values are not (?:equal|sufficiently close)"),
          "pytest --force-regen"),
    _Kind("approvaltests", re.compile(r"ApprovalException|Approval Mismatch"),
          "rename the .received file to .approved"),
    _Kind("pytest-mpl", re.compile(r"Image files did not match"), "pytest --mpl-generate-path"),
    _Kind("vcrpy", re.compile(r"CannotOverwriteExistingRequest|overwrite existing cassette"),
          "pytest --record-mode=rewrite"),
    _Kind("inline-snapshot", re.compile(r"\bsnapshot\("), "pytest --inline-snapshot=fix",
          source="inline_snapshot"),
)  # fmt: skip


def find_stored(reproduced: Sequence[Reproduced], suite: SuiteRun, tree: Tree) -> Mapping[str, str]:
    """The failing tests whose stored expectations a change left behind, and why each.

    Another kind of test that fails as well speaks for a fault of the code, as does a commit that
    changed what is expected.
    """
    confirmed = [item.failure for item in reproduced if item.confirmed]
    reasons = {failure.test: _left_behind(failure, suite, tree) for failure in confirmed}
    return reasons if all(reasons.values()) else {}


def mark_stale(baseline: Baseline, regressions: Sequence[Regression]) -> Baseline:
    """The baseline, with the tests of stored expectations `stale_test`.

    One stays that broke by a commit which says that nothing changes, or has tests of its own: what
    it changed may be a slip.
    """
    slips = {t for one in regressions if change_intent.may_be_slip(one) for t in one.tests}
    reasons = {test: why for test, why in baseline.stored.items() if test not in slips}
    return baseline.marked(FailureStatus.STALE_TEST, reasons)


def _left_behind(failure: Failure, suite: SuiteRun, tree: Tree) -> str:
    """What is expected and where, with the cure; '' where the code may be to blame."""
    if failure.kind in _DOCTESTS:
        return _doctest(failure, suite, tree)
    said = f"{failure.kind}: {failure.message}"
    path = failure.test.partition("::")[0]
    text = read_text(tree, path)
    own = [frame for frame in failure.frames if frame.path == path]
    stated = raise_location.find_statement(tree, own[-1]) if own else ""
    kind = next((k for k in _KINDS if k.said.search(stated if k.source else said)), None)
    if kind is None or (kind.source and not re.search(rf"\b{kind.source}\b", text)):
        return _golden(failure, path, text, suite, tree)
    name = path.rpartition("/")[2].removesuffix(".py")
    files = [p for p in tree.paths() if name in p and not p.endswith(".py")] + [path]
    if not _is_new(failure, files, suite, tree):
        return ""
    return (
        f"the output is another than the snapshot that {kind.name} keeps: look at the difference,"
        f" and run `{kind.cure}` if it is meant"
    )


def _golden(failure: Failure, path: str, text: str, suite: SuiteRun, tree: Tree) -> str:
    """A file of the tests that is read and compared by hand."""
    if failure.kind != "AssertionError" or not (_READS.search(text) and paths.is_test(path)):
        return ""
    fixtures = [path for path in tree.paths() if path.endswith("conftest.py")]
    sources = [text, *(read_text(tree, path) for path in fixtures)]
    stored = [p for p in tree.paths() if not p.endswith(".py") and _STORED.search(p)]
    function = failure.test.rpartition("::")[2].partition("[")[0]
    target = next((t for t in list_targets(tree, path) if t.qualname.endswith(function)), None)
    named = [p for p in stored if any(re.search(_quoted(part), text) for part in _parts(p))]
    if target is None or not named or not _compares_stored(target, text):
        return ""
    if not _is_new(failure, [*named, path], suite, tree):
        return ""
    option = next((m[1] for s in sources if (m := _OPTION.search(s))), "")
    switch = next((m[1] for s in sources if (m := _SWITCH.search(s))), "")
    cure = f"pytest {option}" if option else f"{switch}=1 pytest" if switch else ""
    how = f"run `{cure}`" if cure else f"write the new output to {named[0]}"
    return (
        f"the output is another than {named[0]} holds: look at the difference, and {how} if it is"
        " meant"
    )


def _parts(path: str) -> tuple[str, ...]:
    """How a test names a stored file: by its name, or by a folder that says what it is."""
    folders = path.split("/")
    return (folders[-1], *(part for part in folders[:-1] if _STORED.search(part)))


def _quoted(part: str) -> str:
    """A part of a path in a literal, whole."""
    return rf"[\"'/]{re.escape(part)}[\"'/]"


def _compares_stored(target: Target, text: str) -> bool:
    """Whether a test, or what its file reads through, holds its result against what is stored."""
    called = set(re.findall(r"\b(\w+)\(", target.source)) | set(re.findall(r"\w+", target.source))
    try:
        helpers = [
            ast.get_source_segment(text, node) or ""
            for node in guard.parse(text).body
            if isinstance(node, ast.FunctionDef | ast.Assign)
            and (getattr(node, "name", "") in called or isinstance(node, ast.Assign))
        ]
    except guard.SourceRejected:
        return False
    whole = "\n".join([target.source, *helpers])
    return "assert" in whole and bool(_READS.search(whole)) and bool(_STORED.search(whole))


def _doctest(failure: Failure, suite: SuiteRun, tree: Tree) -> str:
    """An example whose output is only written otherwise, or which a change left behind."""
    want, got = doctest_output.find_output(failure.message)
    path, _, name = failure.test.partition("::")
    if doctest_output.is_alike(want, got):
        why = "the output of the example is the same, written otherwise"
    elif _is_left_alone(path, name, suite, tree):
        why = "the commits changed what the example shows, and tests with it, and left it alone"
    else:
        return ""
    shown = f" (now {' '.join(got.split())[:120]})" if got else ""
    return f"{why}{shown}: correct the docstring, or say +ELLIPSIS or +NORMALIZE_WHITESPACE there"


def _is_left_alone(path: str, name: str, suite: SuiteRun, tree: Tree) -> bool:
    """Whether the commits changed the body and not the example, and tests of it that pass."""
    changed = tree.changed_lines()
    parts = name.split(".")
    target = next(
        (t for t in list_targets(tree, path) for n in range(len(parts))
         if t.qualname == ".".join(parts[n:]) and t.kind == "function"), None,
    )  # fmt: skip
    if target is None or suite.spectrum is None:
        return False
    lines = {n for n in changed.get(path, ()) if target.first_line <= n <= target.last_line}
    example = _docstring(target)
    if not lines or lines & example:
        return False
    green = suite.passed & suite.spectrum.find_hits((path, lines)).keys()
    return any(paths.is_test(file) and file in changed
               for file in (test.partition("::")[0] for test in green))  # fmt: skip


def _docstring(target: Target) -> set[int]:
    """The lines of a function's docstring in its file."""
    node = functions.parse_function(target.source)
    first = node.body[0] if node is not None else None
    if not isinstance(first, ast.Expr):
        return set()
    shift = target.first_line - 1
    return set(range(first.lineno + shift, (first.end_lineno or first.lineno) + shift + 1))


def _is_new(failure: Failure, stored: Sequence[str], suite: SuiteRun, tree: Tree) -> bool:
    """Whether the code is newer than what is expected, as far as the commits tell.

    Without a history nobody knows: what one test alone says then is told, and not believed.
    """
    changed = tree.changed_lines()
    for path in stored:
        former = tree.former(path)
        if former is not None and former != tree.read(path):
            return False
    code = {p for p in changed if not paths.is_test(p, suite.collected)}
    if not changed:
        return True
    if suite.spectrum is None:
        return bool(code)
    return bool(code & suite.spectrum.list_lines(failure.test).keys())
