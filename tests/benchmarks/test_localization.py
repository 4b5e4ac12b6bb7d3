"""Planting faults, moving lines and judging clusters."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

from benchmarks import _fauxpy
from benchmarks._judged import exact, expected
from benchmarks._libraries import Library, Recording, record
from benchmarks._mutants import Mutant, mutants, plant
from heal_bot.core.model import Cluster, Failure
from tests.fakes import FolderTree

SOURCE = """\
import math

def area(width, height=1):
    \"\"\"About areas.\"\"\"
    if width < 0:  # no such thing
        raise ValueError(width)
    sizes = [width]
    sizes.append(height)
    return math.pow(width, 2) + height * 2


class Box:
    def name(self, text):
        text = text.lower() + f"{1 + 1}"
        return text
"""
WANTED = {("m.py", "area", 0), ("m.py", "Box.name", 0)}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "m.py").write_text(SOURCE)
    return tmp_path


def _lines(text: str) -> list[str]:
    return text.splitlines()


def test_a_recording_says_what_failed_and_which_lines_each_test_executed(folder: Path) -> None:
    (folder / "test_m.py").write_text(
        "import m\n\n\ndef test_area():\n    assert m.area(3) == 9\n\n\n"
        "def test_name():\n    assert m.Box().name('A') == 'a2'\n"
    )
    seen = record(Library("own", ()), folder, python=Path(sys.executable))
    assert seen is not None
    assert seen.red == {"test_m.py::test_area"}
    (failed,) = seen.baseline().reproduced
    assert failed.failure.kind == "AssertionError"
    assert seen.covering([("m.py", 15)]) == {"test_m.py::test_name"}


def test_each_kind_of_fault_changes_one_place_and_leaves_the_rest(folder: Path) -> None:
    found = list(mutants(FolderTree(folder), WANTED, 1, turns=300))
    assert {m.kind for m in found} == {
        "operator", "constant", "deleted", "swapped", "attribute", "guard",
    }  # fmt: skip
    for mutant in found:
        (folder / "m.py").write_text(SOURCE)
        plant([mutant], folder)
        text = (folder / "m.py").read_text()
        differing = [a for a, b in zip(_lines(SOURCE), _lines(text), strict=True) if a != b]
        assert len(differing) == 1
        assert ast.dump(ast.parse(text)) != ast.dump(ast.parse(SOURCE))


def test_the_same_seed_gives_the_same_faults_and_only_where_wanted(folder: Path) -> None:
    one = {("m.py", "Box.name", 0)}
    first, again = (list(mutants(FolderTree(folder), one, 7, turns=60)) for _ in range(2))
    assert first == again
    assert {m.qualname for m in first} == {"Box.name"}


def _mutant(first: int, last: int, source: str, path: str = "m.py") -> Mutant:
    return Mutant(path, f"f{first}", 0, "guard", first, last, source)


def test_two_faults_are_planted_in_one_file_wherever_they_move_lines(folder: Path) -> None:
    plant([_mutant(3, 9, "def area():\n    pass\n"), _mutant(13, 15, "    name = 1\n")], folder)
    assert (folder / "m.py").read_text() == (
        "import math\n\ndef area():\n    pass\n\n\nclass Box:\n    name = 1\n"
    )


def test_executions_of_tests_that_did_not_run_again_move_with_the_lines() -> None:
    clean = Recording(
        {"a": ("passed", None), "b": ("passed", None)},
        [("m.py", 2), ("m.py", 5), ("m.py", 9), ("n.py", 9)],
        {"a": 0b1111, "b": 0b1101},
        1.0,
    )
    rerun = Recording({"a": ("failed", {})}, [("m.py", 6), ("m.py", 8)], {"a": 0b11}, 1.0)
    both = clean.with_rerun(rerun, [_mutant(5, 6, "one\n")])
    seen = {
        test: {line for at, line in enumerate(both.lines) if bits >> at & 1}
        for test, bits in both.hits.items()
    }
    assert seen == {
        "a": {("m.py", 6), ("m.py", 8)},
        "b": {("m.py", 2), ("m.py", 8), ("n.py", 9)},
    }
    assert both.red == {"a"}
    assert clean.covering({("m.py", 5)}) == {"a"}


@pytest.mark.parametrize(
    ("scores", "top", "chance"),
    [
        ([(2.0, False), (1.0, True)], 1, 0.0),
        ([(2.0, False), (1.0, True)], 3, 1.0),
        ([(1.0, False), (1.0, True), (1.0, False)], 1, 1 / 3),
        ([(2.0, False), (1.0, True), (1.0, False)], 2, 0.5),
        ([(2.0, False)], 5, 0.0),
    ],
)
def test_ties_count_as_expected_hits(scores, top: int, chance: float) -> None:
    assert expected(scores, top) == pytest.approx(chance)


@pytest.mark.parametrize(
    ("entity", "guilty"),
    [
        ("m.py::f5::5::7", True),
        ("m.py::f5::40::42", False),
        ("m.py::other::5::7", False),
        ("n.py::f5::5::7", False),
    ],
)
def test_what_fauxpy_names_is_found_by_file_name_and_place(entity: str, guilty: bool) -> None:
    mutant = _mutant(5, 8, "def f5():\n    pass\n    pass\n    pass\n")
    assert _fauxpy._is_guilty(f"/checkout/{entity}", Path("/checkout"), mutant) == guilty


def _clusters(groups: Iterable[str]) -> list[Cluster]:
    return [
        Cluster(str(at), tuple(Failure(test, "E", "") for test in group), (), "")
        for at, group in enumerate(groups)
    ]


@pytest.mark.parametrize(
    ("groups", "causes", "right"),
    [
        (("ab", "cd"), ("ab", "cd"), True),
        (("abcd",), ("ab", "cd"), False),
        (("ab", "c", "d"), ("ab", "cd"), False),
        (("abx", "cd"), ("abx", "cdx"), True),
        (("abx", "cdx"), ("abx", "cdx"), True),
        (("ab", "cd"), ("abx", "cdx"), False),
        (("abz", "cd"), ("ab", "cd"), True),
        (("abc", "cd"), ("ab", "cd"), False),
    ],
)
def test_clusters_are_right_when_each_cause_has_its_own(groups, causes, right: bool) -> None:
    assert exact(_clusters(groups), [frozenset(cause) for cause in causes]) is right
