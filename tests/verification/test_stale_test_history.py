"""What the commit that broke a test says of it, and what a patch undoes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from heal_bot.core.model import (
    Baseline,
    ChangedFile,
    Edit,
    Failure,
    Frame,
    History,
    Origin,
    Regression,
    Reproduced,
)
from heal_bot.source import functions
from heal_bot.verification import stale_test_history
from tests.fakes import FolderTree, suite

OLD = "def price(n):\n    # net\n    return n + 19\n\n\ndef other(n):\n    return n\n"
NEW = "def price(n):\n    return n + 20\n\n\ndef other(n):\n    return n\n"
TESTS = "def test_a():\n    assert shown(1) == 'net 20'\n\n\ndef test_b():\n    pass\n"
A, B = "tests/test_m.py::test_a", "tests/test_m.py::test_b"
GOT = "assert 'net 21' == 'net 20'"
COMMIT = "c" * 40


@dataclass(frozen=True)
class Tree(FolderTree):
    """A commit that changed line 2 of m.py."""

    def changed_lines(self) -> dict[str, frozenset[int]]:
        return {"m.py": frozenset({2})}

    def former(self, path: str) -> bytes | None:
        return OLD.encode() if path == "m.py" else None

    def changed_by(self, path: str) -> str:
        return COMMIT


def _tree(tmp_path: Path) -> Tree:
    return Tree(FolderTree.of(tmp_path, {"m.py": NEW, "tests/test_m.py": TESTS}).root)


def _judged(
    tmp_path: Path,
    told: dict[str, tuple[str, str]],
    *failures: Failure,
    code: str = NEW,
    was: str = OLD,
    tests: str = TESTS,
) -> list[tuple[str, str]]:
    """What becomes of failures that a commit broke which changed m.py and these files."""
    tree = FolderTree.of(tmp_path, {"m.py": code, "tests/test_m.py": tests})
    changes = {"m.py": (was, code), **told}
    files = tuple(ChangedFile(p, a.encode(), b.encode()) for p, (a, b) in changes.items())
    red = failures or (Failure(A, "AssertionError", GOT),)
    broke = Regression("a" * 40, "b" * 40, "Raise it", tuple(f.test for f in red), True, files)
    before = Baseline(tuple(Reproduced(f, "confirmed") for f in red), suite(), 3)
    found = stale_test_history.find_outdated(before, History((broke,)), tree)
    return [(item.status, item.failure.reason) for item in found.reproduced]


def test_a_test_that_a_documented_change_left_behind_is_stale_and_both_claims_are_shown(
    tmp_path: Path,
) -> None:
    ((status, reason),) = _judged(tmp_path, {"CHANGELOG.md": ("", "- It shows net 21 now.\n")})
    assert status == "stale_test"
    assert reason.startswith(
        "`bbbbbbb` (Raise it) broke this test; it passes at its parent. The commit left this test"
    )
    assert GOT in reason
    assert "price now: `return n + 20`, before: `return n + 19`" in reason


@pytest.mark.parametrize(
    ("told", "status"),
    [
        ({}, "confirmed"),
        ({"docs/use.md": ("It shows 20.\n", "It shows net 21.\n")}, "stale_test"),
        ({"README.md": ("", 'What it shows begins with "net ".\n')}, "stale_test"),
        ({"docs/use.md": ("", "It shows :value:`net 21`.\n")}, "stale_test"),
        ({"CHANGELOG.md": ("", "- price is faster\n")}, "confirmed"),
        ({"CHANGELOG.md": ("", "- The internet 210 and `et 21`\n")}, "confirmed"),
        ({"CHANGELOG.md": ("- net 21\n", "- net 21\n- more\n")}, "confirmed"),
        ({"CHANGELOG.md": ("", "- no more 'net 20'\n")}, "confirmed"),
        ({"notes.md": ("", "net 21\n")}, "confirmed"),
        ({"README.md": ("It shows net 21.\n", "It mostly shows net 21.\n")}, "confirmed"),
        ({"README.md": ("A 'net 2' thing.\n", "Any 'net 2' thing.\n")}, "confirmed"),
    ],
    ids=[
        "nothing",
        "docs",
        "a part in quotes",
        "a role",
        "another thing",
        "a piece of a word",
        "before",
        "the old text",
        "notes",
        "said before",
        "quoted before",
    ],
)
def test_a_change_is_meant_where_its_commit_shows_what_the_test_got(
    tmp_path: Path, told: dict[str, tuple[str, str]], status: str
) -> None:
    assert [found for found, _ in _judged(tmp_path, told)] == [status]


def test_what_stands_between_two_quotations_is_none(tmp_path: Path) -> None:
    got = "assert x == y\n- f('net') or g('x')\n+ f('net') and g('x')"
    code = 'def price(n):\n    "Shows ``net()`` and ``gross()``."\n    return n + 20\n'
    was = code.replace("Shows", "For").replace("20", "19")
    failure = Failure(A, "AssertionError", got)
    ((status, _),) = _judged(tmp_path, {}, failure, code=code, was=was)
    assert status == "confirmed"
    told = {"CHANGELOG.md": ("", "- the `net` and `gross` of it\n")}
    ((status, _),) = _judged(tmp_path, told, failure)
    assert status == "confirmed"


def test_a_new_docstring_says_that_a_change_is_meant(tmp_path: Path) -> None:
    code = 'def price(n):\n    "It shows net 21."\n    return n + 20\n'
    assert _judged(tmp_path, {}, code=code)[0][0] == "stale_test"


@pytest.mark.parametrize(
    ("was", "is_"),
    [
        ("Teh price of a thing.", "The price of a thing."),
        ("Net 21.", ""),
        ("It shows net 21.", "It shows net 21 now."),
    ],
    ids=["a typo", "one that went", "said before"],
)
def test_a_docstring_that_does_not_show_what_the_test_got_says_nothing(
    tmp_path: Path, was: str, is_: str
) -> None:
    old, new = (
        f'def price(n):\n    "{d}"\n    return n + {m}\n' for d, m in ((was, 19), (is_, 20))
    )
    assert _judged(tmp_path, {}, code=new, was=old)[0][0] == "confirmed"


@pytest.mark.parametrize(
    ("kind", "line", "status"),
    [
        ("TypeError", 1, "confirmed"),
        ("ValueError", 2, "stale_test"),
        ("ValueError", 1, "confirmed"),
    ],
    ids=["an accident", "a raise of the commit", "another line"],
)
def test_an_exception_is_an_accident_unless_the_commit_raises_it(
    tmp_path: Path, kind: str, line: int, status: str
) -> None:
    code = "def price(n):\n    raise ValueError('net 21')\n"
    failure = Failure(A, kind, "'net 21'", (Frame("m.py", line, "price", Origin.PROJECT),))
    told = {"CHANGELOG.md": ("", "- net 21 is refused\n")}
    assert _judged(tmp_path, told, failure, code=code)[0][0] == status


def test_an_exception_that_the_docs_announce_is_meant(tmp_path: Path) -> None:
    code = "def price(n):\n    raise LookupError(n)\n"
    failure = Failure(A, "LookupError", "1", (Frame("m.py", 2, "price", Origin.PROJECT),))
    told = {"CHANGES.rst": ("", "- ``price`` raises LookupError\n")}
    assert _judged(tmp_path, told, failure, code=code)[0][0] == "stale_test"


@pytest.mark.parametrize(
    ("kind", "said", "line", "status"),
    [
        ("DeprecationWarning", "price will be removed in 3.0", 2, "stale_test"),
        ("UserWarning", "price is deprecated", 2, "stale_test"),
        ("RuntimeWarning", "price overflows", 2, "confirmed"),
        ("DeprecationWarning", "price will be removed in 3.0", 6, "confirmed"),
    ],
    ids=["a deprecation", "in other words", "something wrong", "the same line where it was before"],
)
def test_a_commit_that_warns_of_what_will_go_means_it(
    tmp_path: Path, kind: str, said: str, line: int, status: str
) -> None:
    warn = "    warnings.warn(\n        '{}', {})\n    return n + 19\n"
    was = "def old(n):\n" + warn.format("old will be removed in 2.0", kind)
    code = "def price(n):\n" + warn.format(said, kind) + was
    frames = (Frame("tests/test_m.py", 2, "test_a", Origin.TEST),
              Frame("m.py", line, "price", Origin.PROJECT))  # fmt: skip
    tests, failure = TESTS.replace("shown", "price"), Failure(A, kind, said, frames)
    ((found, reason),) = _judged(tmp_path, {}, failure, code=code, was=was, tests=tests)
    assert (found, said in reason) == (status, status == "stale_test")


@pytest.mark.parametrize(
    ("call", "status"), [("price(1, delay=2)", "stale_test"), ("price(1)", "confirmed")]
)
def test_a_warning_of_what_a_test_does_not_use_may_be_an_accident(
    tmp_path: Path, call: str, status: str
) -> None:
    said = "delay will be removed in 3.0"
    was = "def price(n, delay=0):\n    return n + 19\n"
    code = (
        "def price(n, delay=None):\n    if delay is not 0:\n"
        f"        warnings.warn('{said}', DeprecationWarning)\n    return n + 19\n"
    )
    frames = (Frame("tests/test_m.py", 2, "test_a", Origin.TEST),
              Frame("m.py", 3, "price", Origin.PROJECT))  # fmt: skip
    failure = Failure(A, "DeprecationWarning", said, frames)
    tests = f"def test_a():\n    assert {call} == 20\n"
    ((found, _),) = _judged(tmp_path, {}, failure, code=code, was=was, tests=tests)
    assert found == status


def test_what_a_commit_says_of_one_test_counts_for_all_that_it_left_behind(tmp_path: Path) -> None:
    others = Failure(B, "AssertionError", "assert 3 == 2"), Failure(f"{B}[x]", "KeyError", "'x'")
    told = {"CHANGELOG.md": ("", "- It shows net 21 now.\n")}
    found = _judged(tmp_path, told, Failure(A, "AssertionError", GOT), *others)
    assert [status for status, _ in found] == ["stale_test", "stale_test", "confirmed"]


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ("    assert other(2) == 2\n", "confirmed"),
        ("    assert price(2) == 21\n", "stale_test"),
        (
            "    check(2, 21)\n\n\ndef check(n, wanted):\n    assert price(n) == wanted\n",
            "stale_test",
        ),
        ("    assert run(2) == 2\n", "confirmed"),
    ],
    ids=["another function", "the same function", "the same by a helper", "nobody can say"],
)
def test_what_a_commit_says_of_one_function_does_not_count_for_another_that_it_changed(
    tmp_path: Path, body: str, status: str
) -> None:
    tests = f"def test_a():\n    assert price(1) == 'net 20'\n\n\ndef test_b():\n{body}"
    told = {
        "CHANGELOG.md": ("", "- It shows net 21 now.\n"),
        "n.py": ("def other(n):\n    return n\n", "def other(n):\n    return n + 1\n"),
    }
    red = Failure(A, "AssertionError", GOT), Failure(B, "AssertionError", "assert 3 == 2")
    (_, first), (found, _) = _judged(tmp_path, told, *red, tests=tests)
    assert found == status
    assert "price now: `return n + 20`" in first


def test_a_test_that_the_commit_changed_itself_is_not_left_behind(tmp_path: Path) -> None:
    told = {"CHANGELOG.md": ("", "- net 21\n"), "tests/test_m.py": ("", TESTS)}
    assert _judged(tmp_path, told)[0][0] == "confirmed"


def test_where_no_commit_is_known_nothing_is_stale(tmp_path: Path) -> None:
    before = Baseline((Reproduced(Failure(A, "AssertionError", GOT), "confirmed"),), suite(), 3)
    assert stale_test_history.find_outdated(before, History(), _tree(tmp_path)) == before


@pytest.mark.parametrize(
    ("new", "undone"),
    [
        ("    return n + 19\n", True),
        ("    return (n+19)  # as before\n", True),
        ("    return n + 18\n", False),
        ("    n = max(n, 0)\n    return n + 19\n", False),
        ("    return n + 20\n", False),
    ],
)
def test_an_edit_that_restores_what_the_commit_changed_undoes_it(
    tmp_path: Path, new: str, undone: bool
) -> None:
    target = functions.find_target(functions.index_targets("m.py", NEW), "price")
    assert target is not None
    edit = Edit(target, f"def price(n):\n{new}")
    assert stale_test_history.find_undone((edit,), _tree(tmp_path)) == (COMMIT if undone else "")


def test_without_history_nothing_is_undone(tmp_path: Path) -> None:
    made = FolderTree.of(tmp_path, {"m.py": NEW})
    target = functions.find_target(functions.index_targets("m.py", NEW), "price")
    assert target is not None
    assert stale_test_history.find_undone((Edit(target, OLD),), made) == ""  # type: ignore[arg-type]


GRADES = """\
def grade(n):
    if n > 90:
        return "A"
    if n > 50:
        return "B"
    return "C"
"""
BISECTED = """\
def grade(n):
    at = bisect(LIMITS, n)
    return NAMES[at + 1]
"""


@pytest.mark.parametrize(
    ("new", "former"),
    [
        (GRADES, True),
        ('def grade(n):\n    return "B"\n', False),
        (GRADES.replace("90", "95"), False),
        (BISECTED, False),
    ],
    ids=["all of it", "a line of it at another place", "one that adds", "no change"],
)
def test_former_code_is_what_stood_at_that_place(tmp_path: Path, new: str, former: bool) -> None:
    class Graded(FolderTree):
        def former(self, path: str) -> bytes | None:
            return GRADES.encode()

    tree = Graded(FolderTree.of(tmp_path, {"m.py": BISECTED}).root)
    target = functions.find_target(functions.index_targets("m.py", BISECTED), "grade")
    assert target is not None
    assert stale_test_history.is_former([Edit(target, new)], tree) is former
