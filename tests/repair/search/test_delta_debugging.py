"""The smallest reversal of a commit, on real sources and tests that are run."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from heal_bot.core.model import (
    Attempt,
    Candidate,
    ChangedFile,
    Cluster,
    Failure,
    Regression,
    Spectrum,
)
from heal_bot.repair.ranking.patch_probability import load_model
from heal_bot.repair.search.attempt_log import AttemptLog
from heal_bot.repair.search.delta_debugging import find_reversals
from heal_bot.source import edit
from heal_bot.source.edit_recovery import recover_edits
from heal_bot.source.patch_policy import check_candidate
from heal_bot.source.reversal import survey_change
from heal_bot.source.reversal_check import explain_refusal
from tests.fakes import ExecSession, FolderTree, quiet_run

TEST, NEW = "tests/test_m.py::test_m", "tests/test_m.py::test_new"
Check = Callable[[dict[str, Any]], bool]
BEFORE = '''import math


def area(r):
    """Of a circle."""
    return math.pi * r ** 2


def clamp(n, low, high):
    if n < low:
        return low
    return min(n, high)


def label(n):
    text = str(n)
    return text.strip()
'''


@dataclass(frozen=True)
class KnownTree(FolderTree):
    """A folder of which it is known what was in its files before."""

    before: str = ""

    def former(self, path: str) -> bytes:
        return self.before.encode()


def _reversals(
    tmp_path: Path, after: str, check: Check, guard: Check | None = None, now: str = "",
    before: str = BEFORE, tests: tuple[ChangedFile, ...] = (), kind: str = "AssertionError",
    title: str = "Raise it", ran: int = 0, held: tuple[Attempt, ...] = (),
    left: tuple[str, ...] = (),
) -> tuple[list[Attempt], list[str], AttemptLog, int]:  # fmt: skip
    """Reversals of a commit that made `after`; a test that it brought executes the line `ran`."""
    tree = KnownTree(FolderTree.of(tmp_path, {"m.py": now or after}).root, before=before)
    files = (ChangedFile("m.py", before.encode(), after.encode()), *tests)
    regression = Regression("a" * 40, "b" * 40, title, (TEST, *left), True, files)
    spectrum = Spectrum((("m.py", ran),), {NEW: 1})
    passed = frozenset({NEW})
    ledger = AttemptLog(
        tree, regressions=(regression,), spectrum=spectrum, passed=passed, left=frozenset(left)
    )
    ledger.held = held
    guards = {NEW: guard} if guard else {}
    session = ExecSession(tree, "m.py", {TEST: check}, guards)
    cluster = Cluster("c1", (Failure(TEST, kind, "assert"),), ())
    run, _ = quiet_run()
    found = list(find_reversals(run, cluster, session, ledger))  # type: ignore[arg-type]
    texts = [edit.patch_files(tree, attempt.candidate.edits)[0].content for attempt in found]
    return found, texts, ledger, session.judged


def test_what_an_extracted_function_lost_comes_back_in_it(tmp_path: Path) -> None:
    body = "    if n < low:\n        return low\n    return min(n, high)\n"
    slip = "    if x < low:\n        return low\n    return x\n"
    call = BEFORE.replace(body, "    return limit(n, low, high)\n")
    after = f"{call}\n\ndef limit(x, low, high):\n{slip}"
    (attempt,), texts, ledger, _ = _reversals(tmp_path, after, _clamps, title="Extract the limit")
    assert texts == [after.replace("return x\n", "return min(x, high)\n")]
    assert attempt.lacks is None
    assert not ledger.unsure


def test_an_else_that_was_lost_on_the_way_is_no_reversal(tmp_path: Path) -> None:
    body = "    if n < low:\n        n = low\n    else:\n        n = min(n, high)\n    return n\n"
    before = f"def clamp(n, low, high):\n{body}"
    lost = body.replace("    else:\n        n = min(n, high)\n", "")
    call = "def clamp(n, low, high):\n    return limit(n, low, high)\n"
    after = f"{call}\n\ndef limit(n, low, high):\n{lost}"
    (attempt,), texts, _, _ = _reversals(tmp_path, after, _clamps, before=before, title="Split")
    assert texts == [after.replace(lost, body)]
    said = "puts back what was lost in `bbbbbbb`"
    assert attempt.candidate.rationale == said
    assert attempt.doubts == (f"{said}: right unless it was left out on purpose",)


def _clamps(m: dict[str, Any]) -> bool:
    return bool(m["clamp"](-1, 0, 9) == 0 and m["clamp"](10, 0, 9) == 9)


def test_the_fault_alone_is_put_back_and_the_rest_of_the_commit_stays(tmp_path: Path) -> None:
    after = BEFORE.replace("n < low", "n > low").replace("str(n)", "repr(n)").replace(
        "r ** 2", "r * r"
    )  # fmt: skip
    found, texts, _, _ = _reversals(tmp_path, after, _clamps)
    assert texts == [after.replace("n > low", "n < low")]
    (attempt,) = found
    assert (attempt.lacks, attempt.candidate.undoes) == (None, "")
    assert attempt.confidence == load_model().rate_reversal()
    assert attempt.doubts[0].startswith("takes back a part of `bbbbbbb` (Raise it)")
    assert attempt.candidate.proposer == "history"
    assert "`bbbbbbb`" in attempt.candidate.rationale


@pytest.mark.parametrize("left", [(), ("tests/test_m.py::test_label",)])
def test_beside_tests_that_a_commit_leaves_behind_its_change_looks_meant(
    tmp_path: Path, left: tuple[str, ...]
) -> None:
    after = BEFORE.replace("n < low", "n > low").replace("str(n)", "repr(n)")
    (attempt,), _, ledger, _ = _reversals(tmp_path, after, _clamps, left=left)
    said = "it looks like a change that was meant: other tests that it broke are out of date"
    assert attempt.lacks == ((said,) if left else None)
    assert bool(attempt.confidence) is not bool(left)
    assert ("c1" in ledger.unsure) == bool(left)


def test_what_takes_back_all_of_a_commit_says_so(tmp_path: Path) -> None:
    after = BEFORE.replace("n < low", "n > low").replace("Of a circle", "Of a disc")
    (attempt,), texts, _, _ = _reversals(tmp_path, after, _clamps)
    assert attempt.candidate.undoes == "b" * 40
    assert attempt.doubts[0].startswith("takes back the code of `bbbbbbb` (Raise it)")
    assert texts == [after.replace("n > low", "n < low")]


def test_an_expression_is_put_back_whole_though_half_of_it_would_pass(tmp_path: Path) -> None:
    after = BEFORE.replace("min(n, high)", "min(high, low)")
    _, texts, _, _ = _reversals(tmp_path, after, lambda m: m["clamp"](3, 0, 9) == 3)
    assert texts == [BEFORE]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("    if n < low:\n        return low\n", ""),
        ("    return min(n, high)", "    if n > 5:\n        return n\n    return min(n, high)"),
        ("def clamp(n, low, high):\n", "def clamp(n, low, high):\n    n = abs(n)\n    high = n\n"),
    ],
    ids=["a statement was dropped", "a statement was added", "two statements were added"],
)
def test_statements_come_and_go(tmp_path: Path, old: str, new: str) -> None:
    after = BEFORE.replace(old, new)
    _, texts, _, _ = _reversals(tmp_path, after, _clamps)
    assert texts == [BEFORE]


SHAPES = """import math


class Shape:
    sides = 0

    def name(self):
        return type(self).__name__

    def area(self):
        return math.pi

    def double(self):
        return 2 * self.area()


class Base(Shape):
    def area(self):
        return 1


def total(shapes):
    return sum(shape.area() for shape in shapes)


def label(n):
    return str(n)
"""


@pytest.mark.parametrize(
    ("old", "new", "check"),
    [
        (("    def area(self):\n        return math.pi\n\n",), (), "Shape().double() > 6"),
        (("def total(shapes):\n    return sum(shape.area() for shape in shapes)\n\n\n",), (),
         "total([Base()]) == 1"),
        (("    def name(self):\n        return type(self).__name__\n\n",), (),
         "Base().name() == 'Base'"),
        (("import math\n\n\n", "    def area(self):\n        return math.pi\n\n"), (),
         "Shape().double() > 6"),
        (("    def area(self):\n        return math.pi\n\n", "str(n)"), ("", "repr(n)"),
         "Shape().double() > 6"),
    ],
    ids=["between", "of the module", "the first", "with its import", "and something else"],
)  # fmt: skip
def test_functions_that_are_gone_are_put_back(
    tmp_path: Path, old: tuple[str, ...], new: tuple[str, ...], check: str
) -> None:
    after = expected = SHAPES
    for place, one in enumerate(old):
        after = after.replace(one, new[place] if new else "")
        expected = expected.replace(one, new[place]) if new and new[place] else expected
    (attempt,), texts, ledger, _ = _reversals(
        tmp_path, after, lambda m: bool(eval(check, m)), before=SHAPES
    )
    assert [text.split() for text in texts] == [expected.split()]
    files = ledger.regressions[0].files
    assert explain_refusal(attempt.candidate.edits, files, "b" * 40) == ""
    names = [one.target.qualname for one in attempt.candidate.edits]
    assert recover_edits("m.py", after, texts[0], names) == attempt.candidate.edits
    others = [ChangedFile("m.py", after.encode(), after.encode())]
    assert "is not put back" in explain_refusal(attempt.candidate.edits, others, "b" * 40)


def test_a_method_that_nothing_would_use_any_more_is_told(tmp_path: Path) -> None:
    after = SHAPES.replace("return 2 * self.area()", "return self._twice(self.area())").replace(
        "class Base", "    def _twice(self, n):\n        return n + 2\n\n\nclass Base"
    )
    (attempt,), _, _, _ = _reversals(
        tmp_path, after, lambda m: bool(m["Shape"]().double() > 6), before=SHAPES
    )
    assert "leaves `_twice` unused in its file" in attempt.doubts


def test_a_function_that_comes_back_with_other_white_space_is_refused(tmp_path: Path) -> None:
    body = "    def sign(self, n):\n        if n < 0:\n            n = -n\n            n += 1\n"
    before = SHAPES.replace("    def double", f"{body}        return n\n\n    def double")
    tree = KnownTree(FolderTree.of(tmp_path, {"m.py": SHAPES}).root, before=before)
    change = survey_change(tree, [ChangedFile("m.py", before.encode(), SHAPES.encode())])
    back = Candidate(change.put_back(change.places), "history", "reversal", undoes="")
    assert check_candidate(back, tree) == ""
    (one,) = back.edits
    moved = replace(one, new_source=one.new_source.replace("    n += 1", "n += 1"))
    assert "more than imports" in check_candidate(replace(back, edits=(moved,)), tree)
    files = [ChangedFile("m.py", before.encode(), SHAPES.encode())]
    assert explain_refusal((one,), files, "b" * 40) == ""
    assert "is not put back" in explain_refusal((moved,), files, "b" * 40)


def test_a_function_that_never_was_there_is_no_reversal(tmp_path: Path) -> None:
    after = SHAPES.replace("    def area(self):\n        return math.pi\n\n", "")
    tree = KnownTree(FolderTree.of(tmp_path, {"m.py": after}).root, before=after)
    change = survey_change(tree, [ChangedFile("m.py", SHAPES.encode(), after.encode())])
    back = Candidate(change.put_back(change.places), "history", "reversal", undoes="")
    assert "more than imports" in check_candidate(back, tree)


FIND = """def find(words, text):
    found = text.strip()
    try:
        if text in words:
            return found
        return found.upper()
    except TypeError:
        return found
"""


@pytest.mark.parametrize("asked", ["text", "found"])
def test_the_new_name_of_a_variable_stays_beside_the_fault_and_in_it(
    tmp_path: Path, asked: str
) -> None:
    before = FIND.replace("if text in", f"if {asked} in")
    after = before.replace(" in words", " not in words").replace("found", "word")

    def finds(m: dict[str, Any]) -> bool:
        return bool(m["find"](["a"], "a") == "a")

    found, texts, _, _ = _reversals(tmp_path, after, finds, before=before)
    assert texts == [before.replace("found", "word")]
    assert (found[0].lacks, found[0].candidate.undoes) == (None, "")


def test_a_fault_in_a_statement_is_put_back_without_one_beside_it_that_needs_another(
    tmp_path: Path,
) -> None:
    after = FIND.replace("found = text.strip()", "parts = text.strip(), 0").replace(
        "found", "parts[0]"
    ).replace("text in words", "text not in words")  # fmt: skip

    def finds(m: dict[str, Any]) -> bool:
        try:
            return bool(m["find"](["a"], "a") == "a")
        except (NameError, AttributeError):
            return False

    _, texts, _, _ = _reversals(tmp_path, after, finds, before=FIND)
    assert texts == [after.replace("text not in words", "text in words")]


def test_what_stands_in_front_of_an_if_that_was_there_is_no_statement_of_the_module(
    tmp_path: Path,
) -> None:
    before = "def show(n):\n    if n == 1:\n        return 'one'\n    return str(n)\n"
    new = "    if n is True:\n        return 'yes'\n    elif n == 1:\n"
    after = before.replace("    if n == 1:\n", new).replace("str(n)", "repr(n)")
    _, texts, _, _ = _reversals(tmp_path, after, lambda m: m["show"]("a") == "a", before=before)
    assert texts == [after.replace("repr(n)", "str(n)")]


def test_parts_that_pass_together_alone_are_put_back_together(tmp_path: Path) -> None:
    after = BEFORE.replace("n < low", "n > low").replace("min(n", "max(n").replace("str(", "repr(")
    _, texts, _, _ = _reversals(tmp_path, after, _clamps)
    assert texts == [after.replace("n > low", "n < low").replace("max(n", "min(n")]


def test_of_parts_that_each_pass_alone_none_is_called_the_fault(tmp_path: Path) -> None:
    after = BEFORE.replace("str(n)", "str(n) + '!'").replace("text.strip()", "text.strip() + '?'")
    found, _, _, _ = _reversals(tmp_path, after, lambda m: m["label"](1) in {"1", "1!", "1?"})
    assert len(found) == 2
    assert all("another part of the commit" in (one.lacks or ("",))[0] for one in found)


def test_an_import_that_the_commit_took_away_comes_back_with_what_needs_it(tmp_path: Path) -> None:
    after = BEFORE.replace("import math\n\n\n", "").replace("math.pi", "3")
    _, texts, _, _ = _reversals(tmp_path, after, lambda m: m["area"](1) > 3.1)
    assert "import math" in texts[0]
    assert "math.pi * r ** 2" in texts[0]


def test_later_commits_stay_as_they_are(tmp_path: Path) -> None:
    after = BEFORE.replace("n < low", "n > low")
    now = after.replace("text.strip()", "text.strip().lower()").replace(
        "import math", "import math, os"
    )
    _, texts, _, _ = _reversals(tmp_path, after, _clamps, now=now)
    assert texts == [now.replace("n > low", "n < low")]


@pytest.mark.parametrize(
    ("kind", "title", "unsure"),
    [
        ("AssertionError", "Raise it", True),
        ("AttributeError", "Raise it", False),
        ("AssertionError", "refactor: one place for it", False),
    ],
)
def test_where_a_test_of_the_commit_needs_the_change_a_failing_claim_is_undecided(
    tmp_path: Path, kind: str, title: str, unsure: bool
) -> None:
    after = BEFORE.replace("min(n, high)", "n")
    brought = ChangedFile("tests/test_m.py", b"", b"def test_new():\n    pass\n")
    found, _, ledger, _ = _reversals(
        tmp_path, after, _clamps, lambda m: m["clamp"](99, 0, 9) == 99, tests=(brought,),
        kind=kind, title=title,
    )  # fmt: skip
    assert found == []
    assert ("c1" in ledger.unsure) is unsure
    (said,) = [*ledger.unsure.values(), *ledger.notes]
    assert f"without it {NEW} fails, which the same commit brought" in said


def test_nothing_is_judged_where_the_commit_changed_no_function(tmp_path: Path) -> None:
    found, _, ledger, judged = _reversals(tmp_path, BEFORE + "\n# more\n", _clamps)
    assert (found, ledger.outdated, judged) == ([], {}, 0)


def test_a_commit_of_many_hunks_is_reduced_in_few_runs(tmp_path: Path) -> None:
    many = "".join(f"def f{n}():\n    return {n}\n\n\n" for n in range(60))
    after = many.replace("return ", "return 1000 + ")
    _, texts, _, judged = _reversals(tmp_path, after, lambda m: m["f7"]() == 7, before=many)
    assert texts == [after.replace("return 1000 + 7\n", "return 7\n")]
    assert judged <= 70


@pytest.mark.parametrize(
    ("needed", "put_back", "undoes"),
    [(12, 12, "b" * 40), (9, 12, "b" * 40), (3, 3, "")],
    ids=["all of it", "more than a small change", "a small part"],
)
def test_more_functions_than_a_small_change_may_have_are_put_back_as_the_whole_commit(
    tmp_path: Path, needed: int, put_back: int, undoes: str
) -> None:
    many = "".join(f"def f{n}():\n    'Old.'\n    return {n}\n\n\n" for n in range(12))
    after = many.replace("return ", "return 1000 + ").replace("Old", "New")
    (attempt,), texts, ledger, _ = _reversals(
        tmp_path, after, lambda m: all(m[f"f{n}"]() == n for n in range(needed)), before=many
    )
    assert (len(attempt.candidate.edits), attempt.candidate.undoes) == (put_back, undoes)
    assert texts[0].count("1000") == 12 - put_back
    assert explain_refusal(attempt.candidate.edits, ledger.regressions[0].files, "b" * 40) == ""


def test_what_is_neither_small_nor_a_whole_commit_is_not_put_back(tmp_path: Path) -> None:
    many = "".join(f"def f{n}():\n    return {n}\n\n\n" for n in range(12))
    after = many.replace("return ", "return LIMIT + ") + "LIMIT = 1000\nSHOWN = LIMIT\n"
    found, *_ = _reversals(
        tmp_path, after, lambda m: all(m[f"f{n}"]() == n for n in range(12)),
        before=f"{many}SHOWN = 0\n", now=after.replace("SHOWN = LIMIT", "SHOWN = 2 * LIMIT"),
    )  # fmt: skip
    assert found == []


def test_tests_that_are_newer_than_the_commit_may_fail_for_the_same_cause(tmp_path: Path) -> None:
    tree = FolderTree.of(tmp_path, {"m.py": BEFORE.replace("n < low", "n > low")})
    files = (ChangedFile("m.py", BEFORE.encode(), tree.read("m.py")),)
    ledger = AttemptLog(
        tree, regressions=(Regression("a" * 40, "b" * 40, "", (TEST,), True, files),)
    )
    newer = "tests/test_m.py::test_newer"
    session = ExecSession(tree, "m.py", {TEST: _clamps, newer: _clamps})
    cluster = Cluster("c1", tuple(Failure(t, "AssertionError", "") for t in (TEST, newer)), ())
    run, _ = quiet_run()
    (attempt,) = find_reversals(run, cluster, session, ledger)  # type: ignore[arg-type]
    assert attempt.verdict.fixed == (TEST, newer)


@pytest.mark.parametrize(
    ("addition", "undoes"),
    [("LIMIT = 5\n\n\n", "b" * 40), ("LIMIT = 5\n\n\ndef most():\n    return LIMIT\n\n\n", "")],
    ids=["nothing uses what it brought", "another function does"],
)
def test_what_a_commit_brought_may_stay_in_a_revert_where_nothing_uses_it(
    tmp_path: Path, addition: str, undoes: str
) -> None:
    after = BEFORE.replace("def clamp", f"{addition}def clamp").replace("(n, high)", "(n, LIMIT)")
    (attempt,), texts, _, _ = _reversals(tmp_path, after, _clamps)
    assert texts == [after.replace("(n, LIMIT)", "(n, high)")]
    assert attempt.candidate.undoes == undoes


def test_a_part_of_a_statement_is_no_repair_by_itself(tmp_path: Path) -> None:
    after = BEFORE.replace("min(n, high)", "max(n, low)")
    found, texts, _, _ = _reversals(
        tmp_path,
        after,
        lambda m: "max(n, high)" in str(m["__builtins__"]) or m["clamp"](1, 0, 9) == 9,
    )
    assert [after.replace("max(n, low)", "max(n, high)")] == texts
    assert found[0].lacks == (
        "it puts back a part of a statement, and the whole of it does not pass",
    )


IMPORTS = BEFORE.replace("import math\n", "import math\nfrom os.path import join, split\n")


@pytest.mark.parametrize(
    ("lines", "broken"),
    [
        (("from os.path import join, split",), ("from os.path import joined, split",)),
        (
            ("import math\n", "from os.path import join, split"),
            ("import maths\n", "from os.path import joined, split"),
        ),
        (
            ("from os.path import join, split\n", "n < low"),
            ("from os.path import join, split\nimport no_such_thing\n", "n > low"),
        ),
    ],
    ids=["one name", "two statements", "a new statement and a function"],
)
def test_imports_that_fail_are_put_back_with_the_fault_that_they_hid(
    tmp_path: Path, lines: tuple[str, ...], broken: tuple[str, ...]
) -> None:
    after = IMPORTS.replace("str(n)", "repr(n)")
    for old, new in zip(lines, broken, strict=True):
        after = after.replace(old, new)
    (attempt,), texts, ledger, _ = _reversals(tmp_path, after, _clamps, before=IMPORTS)
    assert texts == [IMPORTS.replace("str(n)", "repr(n)")]
    files = ledger.regressions[0].files
    assert explain_refusal(attempt.candidate.edits, files, "b" * 40) == ""
    others = [ChangedFile("m.py", IMPORTS.encode(), IMPORTS.encode())]
    assert "is not put back" in explain_refusal(attempt.candidate.edits, others, "b" * 40)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (("def label(n):",), ("def label(n)",)),
        (("def label(n):", "str(n)"), ("def label(n)", "str(n")),
        (("def label(n):", "n < low"), ("def label(n)", "n > low")),
        (
            ("    return text.strip()\n",),
            ("<<<<<<< HEAD\n    return text\n=======\n    return n\n>>>>>>> topic\n",),
        ),
        (("    text = str(n)\n",), ("    text = str(n)\n  text = n\n",)),
        (("import math\n",), ("import math)\n",)),
        (("        return low\n",), ("",)),
    ],
    ids=["one line", "two", "a fault behind it", "a conflict", "a new line", "the top", "gone"],
)
def test_lines_that_do_not_parse_are_put_back_with_the_fault_that_they_hid(
    tmp_path: Path, old: tuple[str, ...], new: tuple[str, ...]
) -> None:
    after = BEFORE
    for one, other in zip(old, new, strict=True):
        after = after.replace(one, other)
    (attempt,), texts, ledger, _ = _reversals(tmp_path, after, _clamps)
    assert texts == [BEFORE]
    files = ledger.regressions[0].files
    assert explain_refusal(attempt.candidate.edits, files, "b" * 40) == ""
    others = [ChangedFile("m.py", b"x = 1\n", after.encode())]
    assert "is not put back" in explain_refusal(attempt.candidate.edits, others, "b" * 40)
    assert ledger.unsure == {}


def test_an_import_that_comes_back_as_a_line_is_not_added_for_a_function_once_more(
    tmp_path: Path,
) -> None:
    before = BEFORE.replace("import math", "from math import pi as tau").replace("math.pi", "tau")
    after = before.replace("pi as tau", "no_pi as half").replace("tau", "half")
    (attempt,), texts, *_ = _reversals(tmp_path, after, lambda m: m["area"](1) > 3.1, before=before)
    assert texts == [before]
    assert [one.imports for one in attempt.candidate.edits] == [(), ()]


@pytest.mark.parametrize(
    ("old", "new", "kind", "unsure"),
    [
        ("n < low", "n > low", "AssertionError", False),
        ("        return low\n", "        return high\n", "AssertionError", False),
        (
            "    return min(n, high)",
            "    n = n // 2\n    return min(n, high)",
            "AssertionError",
            True,
        ),
        (
            "    return min(n, high)",
            "    n = n // 2\n    return (min(n, high))",
            "AssertionError",
            True,
        ),
        ("    if n < low:\n        return low\n", "", "AssertionError", True),
        ("    if n < low:\n        return low\n", "", "NameError", False),
        ("    return min(n, high)", "    n = n // 2\n    return n", "AssertionError", True),
        (
            "    return min(n, high)",
            "    add = 1\n    return min(n, high) + add",
            "AssertionError",
            True,
        ),
        ("    return min(n, high)", "    return min(n, low)", "AssertionError", False),
        (
            "import math\n",
            "import math\n\nLEAST = 0\nMOST = 7\nlabel = LEAST\n",
            "AssertionError",
            True,
        ),
        ("def clamp(", "def _more(n):\n    return n + 1\n\n\ndef clamp(", "AssertionError", True),
    ],
)
def test_what_is_more_than_one_statement_may_be_what_the_commit_means(
    tmp_path: Path, old: str, new: str, kind: str, unsure: bool
) -> None:
    after = BEFORE.replace(old, new)
    if "MOST" in new:
        after = after.replace("min(n, high)", "min(n, MOST)")
    if "_more" in new:
        after = after.replace("min(n, high)", "_more(min(n, high))")
    (attempt,), _, ledger, _ = _reversals(tmp_path, after, _clamps, kind=kind)
    assert ("c1" in ledger.unsure) == unsure
    assert bool(attempt.lacks) == unsure
    if unsure:
        assert attempt.lacks is not None
        assert attempt.lacks[0].startswith("it looks like a change that was meant: ")
        assert ledger.unsure["c1"].startswith("`bbbbbbb` (Raise it) broke this test")


@pytest.mark.parametrize(
    ("title", "told", "unsure"),
    [
        ("Round up", (), False),
        ("Round up", ("CHANGES.md", "", "- `clamp` rounds up\n"), True),
        (
            "Round up",
            ("CHANGES.md", "- `clamp` rounds up\n", "- `clamp` rounds up\n- more\n"),
            False,
        ),
        ("Round up", ("CHANGES.md", "", "- label is faster\n"), False),
        ("Round up", ("CHANGES.md", "", "- m is faster\n"), False),
        ("Round up", ("clamp.txt", "", "clamp rounds up\n"), False),
        ("refactor: round up", ("CHANGES.md", "", "- `clamp` rounds up\n"), True),
        ("refactor: round up", ("CHANGES.md", "", "Take 12\n"), False),
        ("♻️ REFACTOR: round up", ("CHANGES.md", "", "Take 12\n"), False),
        (":recycle: Simplify it", ("CHANGES.md", "", "Take 12\n"), False),
        ("✨ feat: simplify it", ("CHANGES.md", "", "Take 12\n"), True),
        ("💥 Refactor it", ("CHANGES.md", "", "Take 12\n"), True),
        ("perf(math): round up", ("CHANGES.md", "", "- `clamp` rounds up\n"), False),
        ("Simplify rounding", ("CHANGES.md", "", "- `clamp` rounds up\n"), True),
        ("Simplify rounding", ("CHANGES.md", "", "Take 12\n"), False),
        ("MAINT: round up", ("CHANGES.md", "", "- `clamp` rounds up\n"), True),
        ("MAINT: round up", ("CHANGES.md", "", "Take 12\n"), False),
        ("chore(release): 2.0", ("CHANGES.md", "", "- `clamp` rounds up\n"), True),
        ("refactor!: round up", ("CHANGES.md", "", "- `clamp` rounds up\n"), True),
        ("Test for more", ("CHANGES.md", "", "- `clamp` rounds up\n"), True),
        ("Take 12 at most", (), True),
        ("Take 112 at most", (), False),
        ("math: split into two, no functional change", ("README.md", "", "12\n"), False),
        ("math: clean up", ("README.md", "", "12\n"), False),
        ("Extract the upper limit", ("README.md", "", "12\n"), True),
        ("feat: clean up what is 12", ("README.md", "", "12\n"), True),
        ("Round up", ("CHANGES.md", "", "12 at most\n"), True),
    ],
)
def test_what_a_commit_tells_users_of_a_function_may_be_meant(
    tmp_path: Path, title: str, told: tuple[str, ...], unsure: bool
) -> None:
    after = BEFORE.replace("min(n, high)", "max(n, 12)")
    files = (ChangedFile(told[0], told[1].encode(), told[2].encode()),) if told else ()
    _, _, ledger, _ = _reversals(tmp_path, after, _clamps, tests=files, title=title)
    assert ("c1" in ledger.unsure) == unsure


@pytest.mark.parametrize(
    ("title", "unsure"),
    [
        ("Extract the upper limit", False),
        ("math: move the limit out of clamp", False),
        ("Pull the limit out of clamp", False),
        ("Hoist the limit", False),
        ("Pull request template", True),
        ("Extracting the upper limit", True),
        ("Move to 12", True),
        ("Limit it to 12", True),
    ],
)
def test_a_function_that_came_shows_that_a_title_means_no_other_behaviour(
    tmp_path: Path, title: str, unsure: bool
) -> None:
    body = "    if n < low:\n        return low\n    return min(n, high)\n"
    wrong = body.replace("min", "max").replace("n < low", "n > low")
    moved = f"\n\ndef limit(n, low, high):\n{wrong}"
    after = BEFORE.replace(body, "    return limit(n, low, high)\n") + moved
    _, _, ledger, _ = _reversals(tmp_path, after, _clamps, title=title)
    assert ("c1" in ledger.unsure) == unsure


@pytest.mark.parametrize(
    ("old", "new", "kind", "unsure"),
    [
        ("f'{n}: {low}'", "f'{n} of {low}'", "AssertionError", True),
        ("f'{n}: {low}'", "f'{low}: {n}'", "AssertionError", False),
        ("f'{n:02d}'", "f'{n:<2d}'", "AssertionError", False),
        ("d['low']", "d['lwo']", "KeyError", False),
        ("d.get('low')", "d.get('lwo')", "AssertionError", False),
        ("'too low'", "'too small'", "AssertionError", True),
        ("f'{n}: {low}'", "f'{n} of {low}'", "DocTestFailure", True),
    ],
    ids=[
        "another text",
        "other values",
        "another format",
        "a key",
        "a key that may lack",
        "prose",
        "shown in an example",
    ],
)
def test_another_text_may_be_meant(
    tmp_path: Path, old: str, new: str, kind: str, unsure: bool
) -> None:
    source = "def show(n, low=5, d={'low': 1}):\n    return %s\n"

    def shows(m: dict[str, Any]) -> bool:
        return bool(m["show"](7) == eval(old, {"n": 7, "low": 5, "d": {"low": 1}}))

    _, _, ledger, _ = _reversals(tmp_path, source % new, shows, before=source % old, kind=kind)
    assert ("c1" in ledger.unsure) == unsure


@pytest.mark.parametrize(
    ("ran", "new", "unsure"),
    [(12, "test_new", False), (13, "test_new", False), (6, "test_new", True), (12, "other", True)],
    ids=["its first line", "its last line", "another function", "a test that it did not bring"],
)
def test_what_a_test_of_the_commit_passes_with_and_without_was_not_meant(
    tmp_path: Path, ran: int, new: str, unsure: bool
) -> None:
    after = BEFORE.replace("return min(n, high)", "n = n // 2\n    return n")
    tests = ChangedFile("tests/test_m.py", b"", f"def {new}():\n    pass\n".encode())
    _, _, ledger, _ = _reversals(tmp_path, after, _clamps, tests=(tests,), ran=ran)
    assert ("c1" in ledger.unsure) == unsure


@pytest.mark.parametrize("uses", [1, 2])
def test_a_test_of_the_commit_vouches_for_the_functions_that_it_executes(
    tmp_path: Path, uses: int
) -> None:
    use = "def {}(n):\n    return {}(n)\n\n\n"
    before = "def key(n):\n    return n\n\n\n" + "".join(use.format(c, "key") for c in "ab"[:uses])
    after = before.replace("return key", "return _part") + "def _part(n):\n    return -n\n"
    tests = ChangedFile("tests/test_m.py", b"", b"def test_new():\n    pass\n")
    _, _, ledger, _ = _reversals(
        tmp_path, after, lambda m: bool(m["a"](1) == 1), before=before, tests=(tests,), ran=6
    )
    assert ("c1" in ledger.unsure) == (uses > 1)


def test_a_helper_that_is_left_unused_is_named(tmp_path: Path) -> None:
    helper = "def _more(n):\n    return n + 1\n\n\ndef clamp("
    after = BEFORE.replace("def clamp(", helper).replace("min(n, high)", "_more(min(n, high))")
    (attempt,), _, _, _ = _reversals(tmp_path, after, _clamps, title="refactor: clamp")
    assert attempt.doubts[1:] == ("leaves `_more` unused in its file",)


QUOTES = """def quotes(first, last):
    if not first.strip():
        raise ValueError("first")
    if last is None:
        last = first
    elif not last.strip():
        raise ValueError("last")
    return first + last
"""


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("    elif not last.strip():\n", "    else:\n        last = last.strip()\n", "m.py:5"),
        ("    elif not last.strip():\n", "    elif not last.lower():\n", ""),
    ],
    ids=["the same change", "another change"],
)
def test_the_same_change_made_elsewhere_is_a_doubt(
    tmp_path: Path, old: str, new: str, said: str
) -> None:
    after = QUOTES.replace(
        "    if not first.strip():\n", "    first = first.strip()\n    if not first:\n"
    )
    then = "        if not last:\n            raise" if "else" in new else "        raise"
    after = after.replace(f"{old}        raise", f"{new}{then}")

    def keeps(m: dict[str, Any]) -> bool:
        return bool(m["quotes"](" a", None) == " a a")

    (attempt,), texts, _, _ = _reversals(tmp_path, after, keeps, before=QUOTES, title="Tidy")
    assert "first = " not in texts[0].replace("last = first", "")
    doubt = f"the commit made the same change at {said}, and that stays"
    assert attempt.doubts[1:] == ((doubt,) if said else ())


def test_other_changes_of_a_commit_are_read_as_far_as_they_can_be(tmp_path: Path) -> None:
    head = "try:\n    import nothing as X\nexcept ImportError: X = {}\n\n\n"
    before, after = head.format(5) + BEFORE, head.format(6) + BEFORE.replace("n < low", "n > low")
    (attempt,), texts, _, _ = _reversals(tmp_path, after, _clamps, before=before)
    assert texts == [after.replace("n > low", "n < low")]
    assert len(attempt.doubts) == 1


def test_parts_that_come_back_at_one_place_keep_their_order(tmp_path: Path) -> None:
    before = """def show(x):
    found = []
    for n in x:
        found.append(n)
        found.append(-n)
    else:
        found.append(0)
    return found
"""
    gone = "        found.append(-n)\n    else:\n        found.append(0)\n"
    after = before.replace(gone, "")
    tree = FolderTree.of(tmp_path, {"m.py": after})
    change = survey_change(tree, [ChangedFile("m.py", before.encode(), after.encode())])
    ((target, top),) = change.places
    parts = [(target, part) for hunk in top.parts for part in hunk.parts]
    assert len(parts) == 2
    assert [one.new_source for one in change.put_back(parts)] == [before]


def test_what_was_put_back_for_another_cause_counts_for_that_one_alone(tmp_path: Path) -> None:
    after = BEFORE.replace("min(n, high)", "min(n, low)").replace("r ** 2", "r * 2")

    def area(m: dict[str, Any]) -> bool:
        return bool(m["area"](3) > 28)

    def both(m: dict[str, Any]) -> bool:
        return area(m) and _clamps(m)

    _, _, ledger, _ = _reversals(tmp_path / "alone", after, both)
    assert "c1" in ledger.unsure
    first, _, _, _ = _reversals(tmp_path / "first", after, area)
    found, texts, ledger, _ = _reversals(tmp_path / "then", after, both, held=tuple(first))
    assert texts == [BEFORE]
    assert (found[0].lacks, ledger.unsure) == (None, {})


def test_another_exception_may_be_meant(tmp_path: Path) -> None:
    source = "def show(n):\n    if n < 0:\n        raise %s(n)\n    return n\n"

    def refuses(m: dict[str, Any]) -> bool:
        with pytest.raises(KeyError):
            m["show"](-1)
        return True

    _, _, ledger, _ = _reversals(
        tmp_path, source % "OSError", refuses, before=source % "KeyError", kind="OSError"
    )
    assert "c1" in ledger.unsure


def test_what_a_commit_says_in_a_docstring_may_be_meant(tmp_path: Path) -> None:
    before = BEFORE.replace(
        "def clamp(n, low, high):\n", 'def clamp(n, low, high):\n    """Clamp."""\n'
    )
    after = before.replace("min(n, high)", "max(n, high)")
    _, _, ledger, _ = _reversals(tmp_path, after, _clamps, before=before)
    assert ledger.unsure == {}
    after = after.replace("Clamp.", "Clamp, and round up.")
    _, _, ledger, _ = _reversals(tmp_path, after, _clamps, before=before)
    assert "describes `clamp` anew" in ledger.unsure["c1"]
    more = after.replace("low, high)", "low, high, up=True)")
    _, _, ledger, _ = _reversals(tmp_path, more, _clamps, before=before)
    assert "describes" not in ledger.unsure.get("c1", "")


def test_a_docstring_tells_of_the_value_that_its_function_names(tmp_path: Path) -> None:
    before = 'STEP = 2\n\n\ndef grow(n):\n    """Grow by two."""\n    return n + STEP\n'
    after = before.replace("STEP = 2", "STEP = 3").replace("by two", "by a bit more")
    _, _, ledger, _ = _reversals(tmp_path, after, lambda m: bool(m["grow"](1) == 3), before=before)
    assert "describes `grow` anew" in ledger.unsure["c1"]


def test_a_replacement_that_is_missing_at_one_place_is_made_there(tmp_path: Path) -> None:
    before = """PORTS = {"ssh": 22}


def check(self, scheme):
    return self.port and self.port != PORTS.get(scheme)


def show(self):
    return "" if self.port == PORTS.get(self.scheme) else str(self.port)
"""
    after = before.replace("PORTS.get(scheme)", "default_port(scheme)") + (
        "\n\ndef default_port(scheme):\n    return PORTS.get(scheme.split('+')[-1])\n"
    )
    one = SimpleNamespace(port=22, scheme="git+ssh")
    (attempt,), texts, _, _ = _reversals(
        tmp_path, after, lambda m: m["show"](one) == "", lambda m: not m["check"](one, one.scheme),
        before=before, title="Know compound schemes",
    )  # fmt: skip
    assert texts == [after.replace("PORTS.get(self.scheme)", "default_port(self.scheme)")]
    said = "replaces `PORTS.get` by `default_port` as in `bbbbbbb`"
    assert (attempt.lacks, attempt.candidate.undoes) == (None, "")
    assert attempt.doubts == (f"{said}: right unless it was left out on purpose",)


@pytest.mark.parametrize(("told", "meant"), [("fee", False), ("ratio", True)])
def test_a_place_that_the_commit_tells_of_was_not_forgotten(
    tmp_path: Path, told: str, meant: bool
) -> None:
    before = (
        "RATE = 2\n\n\ndef fee(n):\n    return n * RATE\n\n\ndef ratio(n):\n    return n + RATE\n"
    )
    after = before.replace("n * RATE", "n * _rate()")
    after += "\n\ndef _rate():\n    return RATE + 1\n"
    log = ChangedFile("CHANGELOG.md", b"", f"- `{told}` is another now.\n".encode())
    fees = ChangedFile("tests/test_m.py", b"", b"def test_new():\n    pass\n")
    (attempt,), texts, _, _ = _reversals(
        tmp_path, after, lambda m: bool(m["ratio"](1) == 4), lambda m: bool(m["fee"](1) == 3),
        before=before, tests=(log, fees),
    )  # fmt: skip
    assert texts == [after.replace("n + RATE", "n + _rate()")]
    assert bool(attempt.lacks) is meant


def test_an_edit_that_is_found_in_two_ways_is_one(tmp_path: Path) -> None:
    before = (
        "def total(rows):\n    n = 0\n    for row in rows:\n        n += row\n    return str(n)\n"
    )
    after = (
        "def total(rows):\n    return _add(rows)\n\n\n"
        "def _add(rows):\n    n = 0\n    for row in rows:\n        n += row\n    return n\n"
    )
    _, texts, _, _ = _reversals(
        tmp_path, after, lambda m: bool(m["total"]([1, 2]) == "3"), before=before
    )
    assert texts == [after.replace("return n\n", "return str(n)\n")]


def test_a_lost_statement_comes_back_also_where_the_commit_tells_of_the_function(
    tmp_path: Path,
) -> None:
    before = '''def take(box, other):
    """Take one."""
    try:
        if box:
            return box.pop()
        try:
            return other.pop()
        except KeyError:
            raise LookupError
    except LookupError:
        raise
'''
    after = '''def take(box, other):
    """Take one of the box, else of the other."""
    if box:
        return box.pop()
    if not other:
        raise KeyError
    return other.pop()
'''

    def check(m: dict[str, Any]) -> bool:
        try:
            return bool(m["take"]([], {}))
        except (LookupError, TypeError) as error:
            return type(error) is LookupError

    (attempt,), texts, _, _ = _reversals(tmp_path, after, check, before=before)
    assert texts == [after.replace("KeyError", "LookupError")]
    assert attempt.lacks == (
        "it looks like a change that was meant: the commit describes `take` anew",
    )
    assert attempt.candidate.rationale == "puts back what it was before `bbbbbbb`"


@pytest.mark.parametrize(("title", "meant"), [("Use a table", False), ("Drop the area", True)])
def test_an_entry_that_a_new_table_lacks_comes_back_and_nothing_else(
    tmp_path: Path, title: str, meant: bool
) -> None:
    before = 'def is_link(n):\n    return n == "a" or n == "link" or n == "area"\n'
    table = 'KINDS = ("a", "link")\n\n\n'
    after = table + (
        "def _is_kind(n):\n    known = set(KINDS)\n    return n in known\n\n\n"
        "def is_link(n):\n    return _is_kind(n.lower())\n"
    )

    def check(m: dict[str, Any]) -> bool:
        return [m["is_link"](n) for n in ("a", "area", "b")] == [True, True, False]

    (attempt,), texts, _, _ = _reversals(tmp_path, after, check, before=before, title=title)
    assert texts == [after.replace('"link")', '"link", "area")')]
    said = "it looks like a change that was meant: the commit's title names `area`"
    assert attempt.lacks == ((said,) if meant else None)


@pytest.mark.parametrize(
    ("lost", "found"),
    [("box.append(0)", True), ("box[0] = 0", True), ("box = [0]", False), ("return box", False)],
    ids=["a call", "an item", "a variable", "an end"],
)
def test_a_line_that_was_lost_in_a_rewrite_comes_back_without_the_rest(
    tmp_path: Path, lost: str, found: bool
) -> None:
    source = "def fill(box, n):\n    {}\n    return box\n"
    before = source.format(f"{lost}\n    for one in range(n):\n        box += [one]")
    after = source.format("box += list(range(n))\n    box += []")

    def fills(m: dict[str, Any]) -> bool:
        box = m["fill"]([5], 1)
        return bool(box in ([0, 0], [5, 0, 0], [0], [5]) and box != [5, 0])

    _, texts, ledger, _ = _reversals(tmp_path, after, fills, before=before, title="Extend")
    expected = source.format(f"{lost}\n    box += list(range(n))\n    box += []")
    assert (texts == [expected]) is found
    assert ("c1" in ledger.unsure) is not found


JOIN = """def name(parts):
    if isinstance(parts, tuple):
        parts = "_".join(parts)
    text = parts.strip()
    text = text.lower()
    return text or "x"
"""


def test_what_was_lost_between_files_comes_back_where_the_first_is_gone(tmp_path: Path) -> None:
    gone = ChangedFile("old.py", JOIN.encode(), b"")
    branch = '    if isinstance(parts, tuple):\n        parts = "_".join(parts)\n'
    before, after = "from old import name\n", JOIN.replace(branch, "")

    def names(m: dict[str, Any]) -> bool:
        with contextlib.suppress(AttributeError):
            return bool(m["name"](("a", "b")) == "a_b")
        return False

    found, texts, _, _ = _reversals(tmp_path, after, names, before=before, tests=(gone,))
    assert (texts, found[0].lacks) == ([JOIN], None)


def test_a_branch_that_a_commit_lost_as_it_moved_code_comes_back_alone(tmp_path: Path) -> None:
    after = """def name(parts):
    return _clean(parts)


def _clean(parts):
    if parts:
        return parts.strip().lower()
    return "x"
"""

    def names(m: dict[str, Any]) -> bool:
        try:
            return bool(m["name"](("A", "b")) == "a_b")
        except AttributeError:
            return False

    told = ChangedFile("CHANGELOG.md", b"", b"- `name` takes a text alone\n")
    _, _, ledger, _ = _reversals(
        tmp_path / "told", after, names, before=JOIN, title="Move the cleaning", tests=(told,)
    )
    assert "tells of `name`" in ledger.unsure["c1"]
    (attempt,), texts, ledger, _ = _reversals(
        tmp_path, after, names, before=JOIN, title="Move the cleaning"
    )
    lost = '    if isinstance(parts, tuple):\n        parts = "_".join(parts)\n    return'
    assert texts == [after.replace("    return", lost, 1)]
    assert (attempt.lacks, ledger.unsure) == (None, {})


def test_former_code_never_stands_beside_the_call_that_was_made_of_it(tmp_path: Path) -> None:
    before = """def fill(rows):
    for n, row in enumerate(rows):
        if row < 0:
            rows[n] = 0
        else:
            rows[n] = row + 1
    return rows
"""
    call, helper = "    return _fill(rows)\n", "\n\ndef _fill(rows):\n    return list(rows)\n"
    _, texts, *_ = _reversals(
        tmp_path, f"def fill(rows):\n{call}{helper}", lambda m: bool(m["fill"]([1, -1]) == [2, 0]),
        before=before, title="Share it",
    )  # fmt: skip
    assert texts == [before + helper]


def test_a_branch_that_does_nothing_comes_back_beside_a_call_of_what_was_brought(
    tmp_path: Path,
) -> None:
    before = """def show(n):
    if n is None:
        # Nothing to show.
        pass
    elif n < 0:
        n = -n
    return n
"""
    after = """def show(n):
    if n < 0:
        n = _turn(n)
    return n


def _turn(n):
    return -n
"""

    def shows(m: dict[str, Any]) -> bool:
        with contextlib.suppress(TypeError):
            return m["show"](None) is None
        return False

    _, texts, *_ = _reversals(tmp_path, after, shows, before=before, title="Share it")
    assert texts == [
        before.replace("n = -n", "n = _turn(n)") + after[after.index("\n\n\ndef") :][1:]
    ]


@pytest.mark.parametrize(("ran", "goes_back"), [(0, True), (10, False)])
def test_what_uses_a_function_that_a_commit_brought_goes_back_where_no_test_passes(
    tmp_path: Path, ran: int, goes_back: bool
) -> None:
    use = "def {}(n):\n    return {}(n)\n\n\n"
    before = "def key(n):\n    return n\n\n\n" + use.format("a", "key") + use.format("b", "key")
    after = before.replace("return key", "return _part") + "def _part(n):\n    return -n\n"
    _, texts, _, _ = _reversals(
        tmp_path, after, lambda m: bool(m["a"](1) == 1), before=before, title="Speed up", ran=ran
    )
    left = before if goes_back else before.replace(use.format("b", "key"), use.format("b", "_part"))
    assert texts == [left + "def _part(n):\n    return -n\n"]


def test_an_import_that_the_rest_of_the_commit_needs_stays(tmp_path: Path) -> None:
    after = BEFORE.replace("import math", "import math, os").replace(
        "def label", "SEP = os.sep\n\n\ndef label"
    )
    after = after.replace("n < low", "n > low").replace("min(n, high)", "max(n, high)")
    (attempt,), texts, *_ = _reversals(tmp_path, after, _clamps)
    assert texts == [after.replace("n > low", "n < low").replace("max(n, high)", "min(n, high)")]
    assert attempt.candidate.undoes == ""


def test_a_function_goes_back_whole_where_only_its_use_of_what_was_brought_cannot(
    tmp_path: Path,
) -> None:
    before = (
        "KEYS = {}\n\n\ndef put(key, value, into):\n    low = key.lower()\n"
        "    key = KEYS.get(low, key)\n    into[key] = value\n\n\n"
        "def take(key, of):\n    low = key.lower()\n    return of.get(KEYS.get(low, low))\n\n\n"
        "def has(key, of):\n    low = key.lower()\n    return KEYS.get(low, low) in of\n"
    )
    after = (
        "KEYS = {}\n\n\ndef stored(key):\n    return KEYS.get(key.lower(), key)\n\n\n"
        "def put(key, value, into):\n    key = stored(key)\n    low = key.lower()\n"
        "    into[key] = value\n\n\ndef take(key, of):\n    return of.get(stored(key))\n\n\n"
        "def has(key, of):\n    return stored(key) in of\n"
    )

    def puts(m: dict[str, Any]) -> bool:
        into: dict[str, int] = {}
        m["KEYS"]["a"] = "A"
        m["put"]("a", 1, into)
        return into == {"A": 1}

    _, texts, _, _ = _reversals(
        tmp_path, after, lambda m: m["take"]("X", {"x": 1}) == 1, puts, before=before
    )
    former = "    low = key.lower()\n    return KEYS.get(low, low) in of\n"
    assert texts[0].endswith(former)


def test_a_function_that_got_a_parameter_does_not_go_back_whole(tmp_path: Path) -> None:
    before = "def g(x):\n    return [x.strip()]\n\n\ndef f(x):\n    x = x.strip()\n    return [x]\n"
    after = (
        "def norm(x):\n    return x.upper()\n\n\ndef g(x):\n    return [norm(x)]\n\n\n"
        "def f(x, more=()):\n    return [norm(x), *more]\n"
    )
    _, texts, _, _ = _reversals(
        tmp_path, after, lambda m: m["g"]("a ") == ["a"], lambda m: bool(m["f"]("A")), before=before
    )
    assert texts == [after.replace("    return [norm(x)]\n", "    return [x.strip()]\n")]


def test_parts_that_need_each_other_are_one_change_and_no_rivals(tmp_path: Path) -> None:
    use = "def {0}(n):\n    return {1}(n)\n\n\n"
    before = "def key(n):\n    return n\n\n\n" + use.format("a", "key") + use.format("b", "key")
    after = before.replace("return key", "return _part") + "def _part(n):\n    return -n\n"
    found, _, _, _ = _reversals(
        tmp_path, after, lambda m: bool(1 in (m["a"](1), m["b"](1))), before=before
    )
    assert len(found) == 1


def test_a_function_that_the_commit_brought_is_suspected_with_what_it_changed(
    tmp_path: Path,
) -> None:
    after = BEFORE.replace("def clamp(", "def _most(n):\n    return n\n\n\ndef clamp(").replace(
        "min(n, high)", "_most(n)"
    )
    tree = FolderTree.of(tmp_path, {"m.py": after})
    change = survey_change(tree, [ChangedFile("m.py", BEFORE.encode(), after.encode())])
    assert [target.qualname for target in change.targets] == ["clamp", "_most"]


def test_a_call_that_a_commit_moved_is_not_lost_where_it_goes_back(tmp_path: Path) -> None:
    body = "    if text.startswith('\"'):\n        {} text[1:-1]\n"
    before = (
        f"def load(text):\n    text = text.strip()\n{body.format('text =')}    return text or '-'\n"
    )
    after = (
        "def load(text):\n    text = unquote(text)\n    return text.strip() or '-'\n\n\n"
        f"def unquote(text):\n{body.format('return')}    return text\n"
    )

    def loads(m: dict[str, Any]) -> bool:
        return bool(m["load"]('" a"') == " a" and m["load"]("b") == "b")

    _, texts, _, _ = _reversals(tmp_path, after, loads, before=before, title="Extract unquote")
    again = "    text = text.strip()\n    text = unquote(text)\n    return text or '-'\n"
    assert texts == [
        after.replace("    text = unquote(text)\n    return text.strip() or '-'\n", again)
    ]
