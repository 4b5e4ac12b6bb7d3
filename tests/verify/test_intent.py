"""What a history of two commits says of a red test and of its repair."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from heal_bot.model import CaseResult, Edit, Failure, Frame, Origin, Reproduced, Spectrum
from heal_bot.source import functions
from heal_bot.verify import intent
from tests.fakes import FolderTree, suite

OLD = "def price(n):\n    # net\n    return n + 19\n\n\ndef other(n):\n    return n\n"
NEW = "def price(n):\n    return n + 20\n\n\ndef other(n):\n    return n\n"
TESTS = "def test_a():\n    assert price(1) == 20\n\n\ndef test_b():\n    assert price(2) == 21\n"
A, B = "tests/test_m.py::test_a", "tests/test_m.py::test_b"
COMMIT = "c" * 40


@dataclass(frozen=True)
class Tree(FolderTree):
    """A commit that changed line 2 of m.py, and the lines of the tests that are named."""

    tests: frozenset[int] = frozenset()

    def changed_lines(self) -> dict[str, frozenset[int]]:
        lines = {"m.py": frozenset({2}), "tests/test_m.py": self.tests}
        return {path: found for path, found in lines.items() if found}

    def former(self, path: str) -> bytes | None:
        return OLD.encode() if path == "m.py" else None

    def changed_by(self, path: str) -> str:
        return COMMIT


def _tree(tmp_path: Path, tests: frozenset[int] = frozenset()) -> Tree:
    made = FolderTree.of(tmp_path, {"m.py": NEW, "tests/test_m.py": TESTS})
    return replace(Tree(made.root), tests=tests)


def _statuses(tree: Tree, kinds: dict[str, str], ran: int = 2) -> list[str]:
    spectrum = Spectrum((("m.py", ran), ("tests/test_m.py", 2)), dict.fromkeys(kinds, 0b11))
    said = "assert 'net 21' == 'net 20'"
    results = [CaseResult(t, "failed", kind=k, message=said) for t, k in kinds.items()]
    red = tuple(Reproduced(Failure(r.test, r.kind, r.message), "confirmed") for r in results)
    return [
        f"{item.status} {item.failure.reason}".strip()
        for item in intent.told(red, replace(suite(*results), spectrum=spectrum), tree)
    ]


class Told(Tree):
    """The same commit, which tells of the change in the changelog."""

    def former(self, path: str) -> bytes | None:
        return b"" if path == "CHANGELOG.md" else Tree.former(self, path)


def _told(tmp_path: Path, tests: frozenset[int] = frozenset()) -> Told:
    made = _tree(tmp_path, tests)
    (made.root / "CHANGELOG.md").write_text("- what is told reads net 21 now\n")
    return Told(made.root, tests=tests)


def test_an_assertion_on_a_documented_change_by_a_test_left_alone_is_stale_and_shows_both_claims(
    tmp_path: Path,
) -> None:
    (said,) = _statuses(_told(tmp_path), {A: "AssertionError"})
    assert said.startswith(f"stale_test commit {COMMIT[:12]} changed price")
    assert "assert 'net 21' == 'net 20'" in said
    assert "`return n + 20`, before: `return n + 19`" in said


@pytest.mark.parametrize(
    ("tests", "kinds", "ran"),
    [
        ((), {A: "TypeError"}, 2),
        ((2,), {A: "AssertionError"}, 2),
        ((), {A: "AssertionError"}, 6),
    ],
    ids=["an exception", "a test of the commit", "another function"],
)
def test_what_contradicts_a_stale_test_leaves_it_confirmed(
    tmp_path: Path, tests: tuple[int, ...], kinds: dict[str, str], ran: int
) -> None:
    assert set(_statuses(_told(tmp_path, frozenset(tests)), kinds, ran)) == {"confirmed"}


@pytest.mark.parametrize(
    ("files", "before", "status"),
    [
        ({}, {}, "confirmed"),
        ({"CHANGELOG.md": "- shows net 21\n"}, {"CHANGELOG.md": ""}, "stale_test"),
        ({"docs/use.md": "It shows net 21.\n"}, {"docs/use.md": "It shows 20.\n"}, "stale_test"),
        ({"CHANGELOG.md": "- what it shows begins with \"net \"\n"}, {"CHANGELOG.md": ""},
         "stale_test"),
        ({"CHANGELOG.md": "- price is faster\n"}, {"CHANGELOG.md": ""}, "confirmed"),
        ({"m.py": "def price(n):\n    return n + 20  # more\n"}, {}, "confirmed"),
        ({"m.py": 'def price(n):\n    "More by 20."\n    return n + 20\n'},
         {"m.py": 'def price(n):\n    "More by 19."\n    return n + 19\n'}, "stale_test"),
        ({"CHANGELOG.md": "- net 21\n"}, {"CHANGELOG.md": "- net 21\n"}, "confirmed"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("kinds", [(A,), (A, B)], ids=["one test", "two tests"])
def test_a_change_is_meant_where_the_commits_tell_of_it_whatever_many_tests_it_leaves_behind(
    tmp_path: Path,
    files: dict[str, str],
    before: dict[str, str],
    status: str,
    kinds: tuple[str, ...],
) -> None:
    class Known(Tree):
        def former(self, path: str) -> bytes | None:
            found = {"m.py": OLD, **before}.get(path)
            return None if found is None else found.encode()

    tree = Known(FolderTree.of(_tree(tmp_path).root, files).root)
    ran = 3 if "Mo" in files.get("m.py", "") else 2
    found = _statuses(tree, dict.fromkeys(kinds, "AssertionError"), ran)
    assert {said.split()[0] for said in found} == {status}


VALUES = "class Net:\n    rate = 20\n\n    def of(self, n):\n        return n + self.rate\n"


@pytest.mark.parametrize(
    ("source", "line", "ran", "status"),
    [
        ("RATE = 20\n\ndef price(n):\n    return n + RATE\n", 1, 4, "stale_test"),
        ("SHARE = 20\n\ndef price(n):\n    return n + RATE\n", 1, 4, "confirmed"),
        (VALUES, 2, 5, "stale_test"),
        (VALUES, 3, 5, "confirmed"),
    ],
)
def test_a_value_that_the_commit_changed_counts_where_a_function_that_ran_uses_it(
    tmp_path: Path, source: str, line: int, ran: int, status: str
) -> None:
    class Changed(Told):
        def changed_lines(self) -> dict[str, frozenset[int]]:
            return {"m.py": frozenset({line})}

    tree = Changed(_told(tmp_path).root)
    (tree.root / "m.py").write_text(source)
    (said,) = _statuses(tree, {A: "AssertionError"}, ran)
    assert said.split()[0] == status


def test_a_raise_that_the_commit_wrote_is_a_claim_and_no_accident(tmp_path: Path) -> None:
    tree = _told(tmp_path)
    (tree.root / "m.py").write_text("def price(n):\n    raise ValueError(n)\n")
    spectrum = Spectrum((("m.py", 2),), {A: 1})
    for line, status in ((2, "stale_test"), (1, "confirmed")):
        frame = Frame("m.py", line, "price", Origin.PROJECT)
        red = Reproduced(Failure(A, "ValueError", "'net 21'", (frame,)), "confirmed")
        (found,) = intent.told((red,), replace(suite(), spectrum=spectrum), tree)
        assert found.status == status


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


def test_without_history_nothing_is_stale_and_nothing_is_undone(tmp_path: Path) -> None:
    made = FolderTree.of(tmp_path, {"m.py": NEW, "tests/test_m.py": TESTS})
    red = (Reproduced(Failure(A, "AssertionError", ""), "confirmed"),)
    assert intent.told(red, suite(), made) == red  # type: ignore[arg-type]
    target = functions.find(functions.index("m.py", NEW), "price")
    assert target is not None
    assert intent.undone((Edit(target, OLD),), made) == ""  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("message", "status"),
    [
        ("assert 'Byron, Ada' == 'Ada Byron'", "stale_test"),
        ("assert 'Byron Ada' == 'Ada Byron'", "confirmed"),
    ],
    ids=["the new text is told", "another text"],
)
def test_a_change_is_meant_where_the_commits_tell_of_what_the_test_got(
    tmp_path: Path, message: str, status: str
) -> None:
    tree = _told(tmp_path)
    (tree.root / "CHANGELOG.md").write_text("Names read 'Byron, Ada'\n")
    spectrum = Spectrum((("m.py", 2),), {A: 1})
    red = Reproduced(Failure(A, "AssertionError", message), "confirmed")
    (found,) = intent.told((red,), replace(suite(), spectrum=spectrum), tree)
    assert found.status == status
