"""The program that shows values, run as it is in the sandbox."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from heal_bot.repair.llm.local_variable_trace import SHOWN, WHOLE, make_watcher

WORD = "word " * 100


@pytest.mark.parametrize(
    ("test", "whole"),
    [
        pytest.param(
            f"def test():\n    got = {WORD!r}\n    assert got + 'a' == got + 'b'\n",
            f"assert '{WORD}a' == '{WORD}b'",
            id="pytest",
        ),
        pytest.param(
            "import unittest\n\nclass T(unittest.TestCase):\n"
            f"    def test(self):\n        self.assertEqual({WORD!r} + 'a', {WORD!r} + 'b')\n",
            f"'{WORD}a' != '{WORD}b'",
            id="unittest",
        ),
    ],
)
def test_the_values_of_a_failed_assertion_are_shown_in_full(
    test: str, whole: str, tmp_path: Path
) -> None:
    (tmp_path / "test_a.py").write_text(test)
    line = test.count("\n")
    node = "test_a.py::T::test" if "unittest" in test else "test_a.py::test"
    argv = [sys.executable, "-c", make_watcher("test_a.py", line, node)]
    done = subprocess.run(argv, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    values, _, message = done.stdout.partition(WHOLE)
    assert values.startswith(f"{SHOWN}\ntime 1 : ")
    assert whole in message
    assert len(done.stdout) < 6_000


def test_where_there_are_no_variables_the_message_stands_alone(tmp_path: Path) -> None:
    text = "def test():\n    raise ValueError(\n        [n for n in range(9)]\n    )\n"
    (tmp_path / "test_a.py").write_text(text)
    argv = [sys.executable, "-c", make_watcher("test_a.py", 2, "test_a.py::test")]
    done = subprocess.run(argv, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    said, _, message = done.stdout.partition(WHOLE)
    assert said == "there are no local variables\n"
    assert message.strip() == "[0, 1, 2, 3, 4, 5, 6, 7, 8]"


def test_of_later_times_what_changed_is_shown_below_the_parameters(tmp_path: Path) -> None:
    text = (
        "import pytest\n\n@pytest.mark.parametrize('kind', [[1, 2]], ids=['all'])\n"
        "def test(kind):\n    total = 0\n    for n in kind:\n        total += n\n"
        "    assert total == 4\n"
    )
    (tmp_path / "test_a.py").write_text(text)
    argv = [sys.executable, "-c", make_watcher("test_a.py", 7, "test_a.py::test[all]")]
    done = subprocess.run(argv, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.stdout.partition(WHOLE)[0].splitlines() == [
        SHOWN,
        "parameters : kind = [1, 2]",
        "time 1 : kind = [1, 2]; total = 0; n = 1",
        "time 2 : total = 1; n = 2",
    ]


def test_a_message_beyond_the_room_ends_early(tmp_path: Path) -> None:
    (tmp_path / "test_a.py").write_text("def test():\n    raise ValueError('x' * 90_000)\n")
    argv = [sys.executable, "-c", make_watcher("test_a.py", 2, "test_a.py::test")]
    done = subprocess.run(argv, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.stdout.rstrip().endswith("x [cut here]")
    assert len(done.stdout) < 6_000
