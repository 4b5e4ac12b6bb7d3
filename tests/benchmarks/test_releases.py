from __future__ import annotations

import sys
from pathlib import Path

import pytest

from benchmarks import _releases
from benchmarks.__main__ import main, names


def test_each_benchmark_can_be_asked_for_by_name():
    assert "quixbugs" in names()
    assert all(not name.startswith("_") for name in names())


@pytest.mark.parametrize("argv", [[], ["nothing"], ["os"], ["../demo"]])
def test_an_unknown_name_is_a_usage_error_that_lists_the_known(argv, capsys):
    assert main(argv) == 2
    assert "quixbugs" in capsys.readouterr().err


def test_a_step_that_fails_says_why(tmp_path):
    with pytest.raises(_releases.Failed, match="no luck"):
        _releases.demand([sys.executable, "-c", "raise SystemExit('no luck')"], Path(tmp_path))


@pytest.mark.long
def test_an_environment_is_made_in_a_clone_where_nothing_was_built_before(tmp_path, monkeypatch):
    monkeypatch.setattr(_releases, "BUILD", tmp_path / "build" / "releases")
    assert _releases.environment("none", "pip").is_file()
