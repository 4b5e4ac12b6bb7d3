"""The benchmark of the intake where a test runner is missing."""

from __future__ import annotations

from pathlib import Path

from benchmarks import junit
from benchmarks._dialects import Dialect

TEST = {"test_a.py": "def test_a():\n    assert 0\n"}
HERE = Dialect("here", TEST)
MISSING = (
    Dialect("a plugin", TEST, ("-p", "no_such_plugin_of_pytest")),
    Dialect("a runner", TEST, (), (("-m", "no_such_runner"),), "out/*.xml"),
)


def test_a_runner_that_is_not_installed_is_named_and_the_others_are_measured(
    tmp_path: Path,
) -> None:
    found, unmeasured = junit._join(tmp_path, (MISSING[0], HERE, MISSING[1]))
    assert unmeasured == [dialect.name for dialect in MISSING]
    assert found == {"ids": 2, "exact": 2, "ambiguous": 0}
