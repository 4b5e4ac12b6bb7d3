"""What the commit that broke a test says of it, and what a patch undoes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from heal_bot.model import (
    Baseline,
    ChangedFile,
    Edit,
    Failure,
    Frame,
    History,
    Origin,
    Regression,
    Reproduced,
    Spectrum,
)
from heal_bot.source import functions
from heal_bot.verify import intent
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
    seen: Spectrum | None = None,
    was: str = OLD,
) -> list[tuple[str, str]]:
    """What becomes of failures that a commit broke which changed m.py and these files."""
    tree = FolderTree.of(tmp_path, {"m.py": code, "tests/test_m.py": TESTS})
    changes = {"m.py": (was, code), **told}
    files = tuple(ChangedFile(p, a.encode(), b.encode()) for p, (a, b) in changes.items())
    red = failures or (Failure(A, "AssertionError", GOT),)
    broke = Regression("a" * 40, "b" * 40, "Raise it", tuple(f.test for f in red), True, files)
    ran = replace(suite(), spectrum=seen)
    before = Baseline(tuple(Reproduced(f, "confirmed") for f in red), ran, 3)
    found = intent.find_outdated(before, History((broke,)), tree)
    return [(item.status, item.failure.reason) for item in found.reproduced]


def test_a_test_that_a_documented_change_left_behind_is_stale_and_both_claims_are_shown(
    tmp_path: Path,
) -> None:
    ((status, reason),) = _judged(tmp_path, {"CHANGELOG.md": ("", "- It shows net 21 now.\n")})
    assert status == "stale_test"
    assert reason.startswith(
        "`bbbbbbb` (Raise it) broke this test; it passes at its parent, left it"
    )
    assert GOT in reason
    assert "price now: `return n + 20`, before: `return n + 19`" in reason


@pytest.mark.parametrize(
    ("told", "status"),
    [
        ({}, "confirmed"),
        ({"docs/use.md": ("It shows 20.\n", "It shows net 21.\n")}, "stale_test"),
        ({"README.md": ("", 'What it shows begins with "net ".\n')}, "stale_test"),
        ({"CHANGELOG.md": ("", "- price is faster\n")}, "confirmed"),
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
        "another thing",
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


def test_a_new_docstring_says_that_a_change_is_meant(tmp_path: Path) -> None:
    code = 'def price(n):\n    "With 20 more."\n    return n + 20\n'
    assert _judged(tmp_path, {}, code=code)[0][0] == "stale_test"


@pytest.mark.parametrize(
    ("code", "line", "status"),
    [
        ('def price(n):\n    "With 20 more."\n    return n + 20\n', 3, "stale_test"),
        ('def price(n):\n    "With 20 more."\n    return n + 20\n', 9, "confirmed"),
        (NEW, 2, "confirmed"),
    ],
    ids=["of a function that ran", "of another one", "a docstring that went"],
)
def test_a_docstring_counts_where_it_says_more_of_what_the_test_executes(
    tmp_path: Path, code: str, line: int, status: str
) -> None:
    seen = Spectrum((("m.py", line),), {A: 1})
    was = OLD if code != NEW else OLD.replace("    # net", '    "With tax."')
    assert _judged(tmp_path, {}, code=code, seen=seen, was=was)[0][0] == status


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


def test_what_a_commit_says_of_one_test_counts_for_all_that_it_left_behind(tmp_path: Path) -> None:
    others = Failure(B, "AssertionError", "assert 3 == 2"), Failure(f"{B}[x]", "KeyError", "'x'")
    told = {"CHANGELOG.md": ("", "- It shows net 21 now.\n")}
    found = _judged(tmp_path, told, Failure(A, "AssertionError", GOT), *others)
    assert [status for status, _ in found] == ["stale_test", "stale_test", "confirmed"]


def test_a_test_that_the_commit_changed_itself_is_not_left_behind(tmp_path: Path) -> None:
    told = {"CHANGELOG.md": ("", "- net 21\n"), "tests/test_m.py": ("", TESTS)}
    assert _judged(tmp_path, told)[0][0] == "confirmed"


def test_where_no_commit_is_known_nothing_is_stale(tmp_path: Path) -> None:
    before = Baseline((Reproduced(Failure(A, "AssertionError", GOT), "confirmed"),), suite(), 3)
    assert intent.find_outdated(before, History(), _tree(tmp_path)) == before


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
    target = functions.find(functions.index("m.py", NEW), "price")
    assert target is not None
    edit = Edit(target, f"def price(n):\n{new}")
    assert intent.undone((edit,), _tree(tmp_path)) == (COMMIT if undone else "")


def test_without_history_nothing_is_undone(tmp_path: Path) -> None:
    made = FolderTree.of(tmp_path, {"m.py": NEW})
    target = functions.find(functions.index("m.py", NEW), "price")
    assert target is not None
    assert intent.undone((Edit(target, OLD),), made) == ""  # type: ignore[arg-type]
