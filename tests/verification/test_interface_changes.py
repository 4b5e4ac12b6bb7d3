"""Tests that use an interface in its old form are told from accidents."""

from __future__ import annotations

from pathlib import Path

import pytest

from heal_bot.core.model import ChangedFile, Failure, Frame, Origin
from heal_bot.source.functions import index_targets
from heal_bot.verification.interface_changes import (
    find_left_behind,
    find_new_class,
    find_removed,
)
from tests.fakes import FolderTree

OLD = "class Buffer:\n    def cut(self, mark):\n        return mark\n"
NEW = "class Buffer:\n    def cut(self, mark, length):\n        return mark[:length]\n"
CALLER = "def read(buffer):\n    return buffer.cut('x')\n"
ADAPTED = "def read(buffer):\n    return buffer.cut('x', 1)\n"
TEST = "def test_cut():\n    assert Buffer().cut('x') == 'x'\n"
MESSAGE = "cut() missing 1 required positional argument: 'length'"
INSIDE = (Frame("buffers.py", 3, "cut", Origin.PROJECT),)


def _found(
    buffers: tuple[str, str] = (OLD, NEW),
    readers: tuple[str, str] = (CALLER, ADAPTED),
    failure: Failure | None = None,
) -> str:
    files = [
        ChangedFile(path, before.encode(), after.encode())
        for path, (before, after) in {"buffers.py": buffers, "readers.py": readers}.items()
    ]
    failure = failure or Failure("tests/test_buffers.py::test_cut", "TypeError", MESSAGE)
    return find_left_behind(failure, index_targets("tests/test_buffers.py", TEST)[0], files)


def test_a_test_that_calls_what_a_commit_changed_with_its_callers_is_left_behind() -> None:
    assert _found() == "cut"


def test_so_is_one_that_uses_a_name_which_the_commit_replaced_everywhere() -> None:
    renamed = OLD.replace("cut", "split"), CALLER.replace("cut", "split")
    failure = Failure("tests/test_buffers.py::test_cut", "AttributeError", "no attribute 'cut'")
    assert _found((OLD, renamed[0]), (CALLER, renamed[1]), failure) == "cut"


@pytest.mark.parametrize(
    "changed",
    [
        {"readers": (CALLER, CALLER)},
        {"buffers": (OLD, OLD.replace("return mark", "return None"))},
        {"failure": Failure("t", "AssertionError", "assert 'x' == 'y'")},
        {"failure": Failure("t", "TypeError", "unhashable", INSIDE)},
        {"readers": (CALLER, "")},
        {"readers": ("def read(:\n", ADAPTED)},
        {"failure": Failure("t", "TypeError", "'NoneType' object is not subscriptable")},
        {"buffers": (OLD, OLD.replace("mark)", "mark: str)"))},
        {"readers": (CALLER, CALLER.replace("buffer", "buf"))},
    ],
    ids=[
        "callers as before",
        "same form",
        "a claim",
        "raised in the code",
        "gone",
        "unparsable",
        "of another thing",
        "annotated",
        "another receiver",
    ],
)
def test_anything_else_may_be_an_accident(changed: dict[str, object]) -> None:
    assert _found(**changed) == ""  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("message", "test", "after", "found"),
    [
        ("'Cut' object is not subscriptable", TEST, f"class Cut: ...\n{OLD}", "Cut"),
        ("'Cut' object is not subscriptable", f"{TEST}    Cut()\n", f"class Cut: ...\n{OLD}", ""),
        ("'Buffer' object is not subscriptable", "def test_cut(): ...\n", NEW, ""),
        ("'NoneType' object is not subscriptable", TEST, f"class Cut: ...\n{OLD}", ""),
    ],
    ids=["new", "known to the test", "older than the commit", "of another thing"],
)
def test_a_test_that_takes_an_object_of_a_new_class_for_what_it_was_is_left_behind(
    message: str, test: str, after: str, found: str
) -> None:
    files = [ChangedFile("buffers.py", OLD.encode(), after.encode())]
    target = index_targets("tests/test_buffers.py", test)[0]
    for frames, expected in (((), found), (INSIDE, "")):
        failure = Failure("tests/test_buffers.py::test_cut", "TypeError", message, frames)
        assert find_new_class(failure, target, files) == expected


REMOVED = "class Buffer:\n    pass\n"
GONE = Failure("tests/test_buffers.py::test_cut", "TypeError", "'Cell' object is not callable")


def _removed(root: Path, after: str, others: dict[str, str], failure: Failure = GONE) -> str:
    files = [ChangedFile("buffers.py", OLD.encode(), after.encode())]
    sources = {"buffers.py": after, "tests/test_buffers.py": TEST, **others}
    tree = FolderTree.of(root, sources)
    return find_removed(failure, index_targets("tests/test_buffers.py", TEST)[0], files, tree)


def test_a_test_of_what_a_commit_took_away_is_left_behind(tmp_path: Path) -> None:
    others = {"readers.py": "def read(buffer): return buffer.text\n"}
    assert _removed(tmp_path, REMOVED, others) == "cut"


@pytest.mark.parametrize(
    ("after", "others", "failure"),
    [
        (REMOVED, {"readers.py": CALLER}, GONE),
        (NEW, {}, GONE),
        ("def Buffer(:\n    cut\n", {}, GONE),
        (REMOVED, {}, Failure("t", "AssertionError", "assert 'x' == 'y'")),
        (REMOVED, {}, Failure("t", "TypeError", "no such thing", INSIDE)),
    ],
    ids=["still used", "still there", "named in what cannot be read", "a claim", "in the code"],
)
def test_what_is_used_or_fails_elsewhere_may_have_gone_by_accident(
    tmp_path: Path, after: str, others: dict[str, str], failure: Failure
) -> None:
    assert _removed(tmp_path, after, others, failure) == ""
