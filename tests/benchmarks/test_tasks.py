"""Our own tasks: how they are written, run and proved."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks import _plain
from benchmarks._taskfile import FOLDER, REPAIRS, changed, own, read
from benchmarks._tasks import Wrong, judged
from tests.benchmarks.taskcheck import problems

ROOT = Path(__file__).parents[2]
ONE = read(FOLDER / "dates" / "age.md")


@pytest.mark.long
def test_every_task_is_red_and_only_its_reference_is_right() -> None:
    argv = [sys.executable, "-W", "ignore", "-m", "tests.benchmarks.taskcheck"]
    done = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, timeout=100, check=True)
    assert json.loads(done.stdout) == []


def test_there_are_enough_tasks_of_every_kind() -> None:
    tasks = own()
    assert len(tasks) >= 44
    assert len({task.name for task in tasks}) == len(tasks)
    assert min(Counter(task.category for task in tasks).values()) >= 5
    assert len({task.category for task in tasks}) == 8
    shares = Counter(task.repair for task in tasks)
    assert set(shares) == set(REPAIRS)
    assert own("missing logic") == tuple(t for t in tasks if t.repair == "missing logic")


@pytest.mark.parametrize(
    ("spoilt", "said"),
    [
        (replace(ONE, reference=ONE.module), "the reference fails search test_on_the_birthday"),
        (replace(ONE, hidden="def test_0():\n    pass\n"), "no hidden test fails"),
        (replace(ONE, wrong=ONE.wrong[:1]), "fewer than two"),
        (replace(ONE, wrong=(*ONE.wrong, Wrong("right", ONE.reference))), "passes all hidden"),
        (replace(ONE, wrong=(*ONE.wrong, Wrong("red", ONE.module))), "'red' fails test_on_the"),
    ],
)
def test_a_spoilt_task_is_named(spoilt, said: str) -> None:
    assert [said for problem in problems(spoilt) if said in problem]


def test_a_task_without_a_red_test_is_named() -> None:
    healed = replace(ONE, files={**ONE.files, ONE.path: ONE.reference})
    assert "age: no search test fails" in list(problems(healed))


def test_hunks_are_applied_in_turn_and_may_remove_and_add_lines() -> None:
    assert changed("a\nb\n\nc\n", "@@\n-a\n+A\n+AA\n@@\n b\n \n-c\n", "x") == "A\nAA\nb\n\n"


@pytest.mark.parametrize("diff", ["-z\n+y\n", "-a\n+b\n", "+b\n"])
def test_a_hunk_that_fits_nowhere_or_twice_is_refused(diff: str) -> None:
    with pytest.raises(ValueError, match="fits in"):
        changed("a\nb\na\n", diff, "x")


def test_a_file_that_lacks_a_part_is_refused(tmp_path: Path) -> None:
    text = (FOLDER / "dates" / "age.md").read_text()
    file = tmp_path / "age.md"
    file.write_text(text.replace("## Hidden tests", "## Hidden"))
    with pytest.raises(ValueError, match="no 'Hidden tests'"):
        read(file)
    file.write_text(text.replace("repair: one edit", "repair: magic"))
    with pytest.raises(ValueError, match="missing logic"):
        read(file)


def test_failures_are_named_by_test_and_row() -> None:
    tests = """
import pytest
from tool.m import f

@pytest.mark.parametrize("n", [1, 2])
def test_one(n):
    assert f(n) == 2

@pytest.mark.parametrize(("n", "m"), [(1, 2), (2, 2)])
def test_two(n, m):
    assert f(n) == m

def test_raises():
    with pytest.raises(ValueError):
        f(0)

def test_leaves():
    raise SystemExit(0)
"""
    found = _plain.failures("m", "def f(n):\n    return n\n", tests)
    assert set(found) == {"test_one[0]", "test_two[0]", "test_raises", "test_leaves"}
    assert found["test_raises"].startswith("Failed: DID NOT RAISE")


def test_a_test_that_never_ends_is_ended() -> None:
    def endless() -> None:
        while True:
            with contextlib.suppress(Exception):
                time.sleep(9)

    assert "too long" in _plain.run(endless, seconds=0.05)


def test_modules_are_gone_afterwards() -> None:
    with _plain.loaded("m", "x = 1\n") as module:
        assert module.x == 1
        assert sys.modules["tool.m"] is module
    assert "tool" not in sys.modules
    assert "tool.m" not in sys.modules


@pytest.mark.slow
def test_the_judge_is_the_hidden_tests() -> None:
    assert judged(ONE, ONE.reference) == (True, True)
    assert judged(ONE, ONE.wrong[0].source) == (True, False)
    assert judged(ONE, ONE.module) == (False, False)


@pytest.mark.parametrize(
    ("source", "said"), [(ONE.reference, 0), (ONE.wrong[0].source, 2), (ONE.module, 3)]
)
def test_a_module_is_judged_by_both_kinds_of_tests(tmp_path: Path, source: str, said: int) -> None:
    file = tmp_path / "patched.py"
    file.write_text(source)
    task = str(FOLDER / "dates" / "age.md")
    assert _plain.main(task, str(file), "search", "hidden") == said
    assert _plain.main(task, str(file)) == bool(said)
