"""The recipes of the street, how its rows become figures, and how a patch is judged."""

from __future__ import annotations

import dataclasses
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from benchmarks.street import case, confined, figures, history, recipes
from benchmarks.street.compared import Bench, functions_changed
from benchmarks.street.figures import Row
from benchmarks.street.results import Results
from benchmarks.street.staged import Ended

FIXES = recipes.load("fixes")


def test_each_recipe_has_a_name_of_its_own_and_red_tests() -> None:
    assert len({recipe.id for recipe in FIXES}) == len(FIXES) > 0
    assert all(recipe.red and recipe.sources and recipe.tests for recipe in FIXES)
    assert all(recipe.part == "fixes" and recipe.planted is None for recipe in FIXES)


def test_no_project_that_others_measure_on_takes_part_and_none_has_more_than_four() -> None:
    assert not {recipe.project for recipe in FIXES} & recipes.EXCLUDED
    assert max(Counter(recipe.repository for recipe in FIXES).values()) <= 4


def test_a_half_is_told_by_the_name_alone() -> None:
    halves = Counter(recipes.split(f"owner/name-{n}") for n in range(400))
    assert 150 < halves["held"] < 250
    assert recipes.split("Owner/Name") == recipes.split("owner/name")


@pytest.mark.parametrize(
    ("path", "test", "source"),
    [
        ("src/pkg/core.py", False, True),
        ("pkg/tests/test_core.py", True, False),
        ("test_core.py", True, False),
        ("tests/data/a.json", True, False),
        ("docs/conf.py", False, False),
        ("setup.py", False, False),
        ("pkg/testing.py", False, True),
    ],
)
def test_a_path_is_source_or_test_by_its_name(path: str, test: bool, source: bool) -> None:
    assert (history.is_test(path), history.is_source(path)) == (test, source)


@pytest.mark.parametrize(
    ("count", "of", "low", "high"), [(8, 10, 0.49, 0.943), (0, 20, 0.0, 0.161), (0, 0, 0.0, 1.0)]
)
def test_the_interval_is_wilsons(count: int, of: int, low: float, high: float) -> None:
    assert figures.interval(count, of) == [low, high]


def _row(name: str, **fields: object) -> Row:
    given = {"id": name, "part": "fixes", "split": "tune", "engine": "one", **fields}
    return Row.model_validate(given)


def test_a_case_that_could_not_be_staged_or_is_not_as_recorded_does_not_count() -> None:
    rows = [
        _row("a", status="healed", trusted=True, exact=True, rank=1, offered="healed",
             judgement="right", seconds=4.0),
        _row("b", status="not_healed", trusted=True, rank=5, offered="suggested",
             judgement="wrong", seconds=8.0),
        _row("c", status="not_healed", seconds=6.0),
        _row("d", status="healed", trusted=True, drifted=True),
        _row("e", unstaged="no clone"),
    ]  # fmt: skip
    told = figures.half(rows)
    assert (told["cases"], told["dropped"], told["median_seconds"]) == (3, 2, 6.0)
    assert told["trusted_baseline"]["count"] == 2
    assert (told["located_top1"]["count"], told["located_top5"]["count"]) == (1, 2)
    assert told["right"]["healed"] == 1
    assert (told["wrong"]["count"], told["wrong"]["of"], told["wrong"]["healed"]) == (1, 2, 0)


def test_an_explanation_counts_when_it_names_the_cause() -> None:
    rows = [
        _row("a", part="situations", status="x", action="explain", wanted="explain", named=True),
        _row("b", part="situations", status="x", action="explain", wanted="explain"),
        _row("c", part="situations", status="x", action="silent", wanted="silent", seconds=61.0),
    ]
    told = figures.situations(rows)
    assert told["right_action"]["count"] == 2
    assert told["silent_within_60_s"]["rate"] == 0.0


def test_engines_are_compared_case_by_case_and_held_is_not_named() -> None:
    before = [_row("a", status="not_healed"), _row("b", status="not_healed"), _row("z", status="x")]
    after = [
        _row("a", status="healed", offered="healed", judgement="right"),
        _row("b", status="stuck", split="held"),
    ]
    told = figures.difference(before, after)
    assert told["cases"] == 2
    assert told["changed"] == {"not_healed -> healed right": 1, "not_healed -> stuck": 1}
    assert told["tune"] == {"a": "not_healed -> healed right"}


def test_a_row_is_found_again_by_a_later_call(tmp_path: Path) -> None:
    Results(tmp_path, "0123456789").keep(_row("fixes/a", status="healed"))
    again = Results(tmp_path, "0123456789")
    assert "fixes/a" in again
    assert [row.status for row in again.rows(["fixes/a", "fixes/b"])] == ["healed"]
    assert "fixes/a" not in Results(tmp_path, "another")


def test_every_request_to_a_model_is_counted() -> None:
    """Looks and reviews are requests as well; `proposals` are what became attempts."""
    events = [{"kind": kind} for kind in ("request", "usage", "look", "request", "retry")]
    outcome = {"attempts": [{"proposer": "openai"}, {"proposer": "rules"}],
               "cost": {"input_tokens": 1200}}  # fmt: skip
    ended = Ended(0, "", 1.0, outcome=outcome, events=events)
    assert case.asked(ended) == (2, 1, 1200)


def test_functions_are_told_apart_by_what_they_do() -> None:
    old = "class A:\n    def f(self):\n        return 1\n\ndef g():\n    return 2\n"
    new = old.replace("return 1", "return  1  # one").replace("return 2", "return 3")
    assert functions_changed(old, new) == {"g"}


BROKEN = "def clip(value, most):\n    return value\n"
FIXED = "def clip(value, most):\n    return min(value, most)\n"
SUITE = """
import pytest
from calc import clip


@pytest.mark.parametrize("value", range(10))
def test_clip(value):
    assert clip(value, 8) <= 8
    assert clip(value, 20) == value
"""


@pytest.fixture
def bench() -> Iterator[Bench]:
    """A small project, with this Python as its environment."""
    folder = Path(tempfile.mkdtemp(prefix="street-"))
    folder.chmod(0o755)
    workspace, venv = folder / "work", folder / "venv"
    workspace.mkdir()
    (venv / "bin").mkdir(parents=True)
    (venv / "bin/python").write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    (venv / "bin/python").chmod(0o755)
    (workspace / "conftest.py").write_text("")
    (workspace / "calc.py").write_text(BROKEN)
    (workspace / "test_calc.py").write_text(SUITE)
    red = frozenset({"test_calc.py::test_clip[9]"})
    yield Bench(workspace, venv, folder, red, {"calc.py": FIXED}, {"calc.py": BROKEN})
    shutil.rmtree(folder)


@pytest.mark.long
@pytest.mark.parametrize(
    ("text", "judgement", "said"),
    [
        (FIXED.replace("min(value, most)", "min(value,   most)"), "right", "maintainers' own"),
        (FIXED.replace("min(value, most)", "most if value > most else value"), "right", "alike"),
        (FIXED.replace("min(value, most)", "min(value, abs(most))"), "wrong", "value"),
        (FIXED.replace("min(value, most)", "max(value, most)"), "wrong", "tests fail"),
    ],
)
def test_a_patch_is_judged_by_the_suite_and_by_answers(
    bench: Bench, text: str, judgement: str, said: str
) -> None:
    found, why = bench.judge({"calc.py": text})
    assert found == judgement, why
    assert said in why


@pytest.mark.long
def test_a_change_of_another_file_is_no_part_of_the_maintainers_version(bench: Bench) -> None:
    fixed = f"from limits import top\n{FIXED.replace('min(value, most)', 'min(value, top(most))')}"
    broken = {"calc.py": BROKEN, "limits.py": "def top(most):\n    return most\n"}
    (bench.workspace / "limits.py").write_text(broken["limits.py"])
    two = dataclasses.replace(bench, sources={"calc.py": fixed}, broken=broken)
    ours = {"calc.py": fixed, "limits.py": "def top(most):\n    return min(most, 15)\n"}
    assert two.judge(ours)[0] == "wrong"


def test_what_is_repeated_cannot_write_outside_its_folder(tmp_path: Path) -> None:
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    inside.mkdir()
    outside.mkdir()
    code = "import pathlib, sys; [pathlib.Path(p, 'a').write_text('') for p in sys.argv[1:]]"
    argv = [sys.executable, confined.__file__, inside, sys.executable, "-c", code]
    done = subprocess.run([*argv, inside, outside], capture_output=True, text=True, timeout=60)
    assert "PermissionError" in done.stderr
    assert (inside / "a").exists()
    assert not (outside / "a").exists()


@pytest.mark.parametrize(
    ("row", "right", "asks"),
    [
        ({"action": "explain", "named": True}, 1, 0),
        ({"action": "repair", "offered": "healed"}, 1, 1),
        ({"action": "repair", "offered": "healed", "undone": True}, 0, 0),
        ({"action": "repair", "offered": "suggested", "judgement": "wrong"}, 0, 0),
        ({"action": "repair"}, 0, 0),
    ],
)
def test_a_change_that_was_meant_is_explained_or_taken_back_by_a_draft_that_says_so(
    row: dict[str, Any], right: int, asks: int
) -> None:
    told = figures.situations([Row(
        id="situations/intended/a", part="situations", split="tune", engine="e", wanted="explain",
        **row,
    )])  # fmt: skip
    assert (told["right_action"]["count"], told["asked_by_draft"]) == (right, asks)
