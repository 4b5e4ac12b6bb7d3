"""The commit that turned a suite red, found from the one that mends it."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.street.clones import Clone
from benchmarks.street.history import Change, changes, mends
from benchmarks.street.veins import broke
from benchmarks.street.workbench import DroppedError
from tests.benchmarks.project import on_a_bench

GOOD = "def half(n):\n    return n / 2\n"
BAD = GOOD.replace("/ 2", "// 2")
TEST = "from stats import half\n\n\ndef test_half():\n    assert half(3) == 1.5\n"
NOTE = {"note.txt": "Something else.\n"}
START = {"stats.py": GOOD, "test_stats.py": TEST}


def _change(clone: Clone, sha: str) -> Change:
    return next(change for _, change, _ in changes(clone) if change.sha == sha)


@pytest.mark.long
def test_the_walk_back_ends_at_the_commit_that_broke_it(tmp_path: Path) -> None:
    bench, shas = on_a_bench(tmp_path, START, {"stats.py": BAD}, NOTE, {"stats.py": GOOD})
    change = _change(bench.clone, shas[3])
    found = broke(bench, change)
    assert (found.base, found.fix, found.sources) == (shas[1], shas[3], ("stats.py",))
    assert (found.red, found.passed) == (("test_stats.py::test_half",), 0)
    assert found.id == f"regressions/stats-{shas[1][:8]}"


@pytest.mark.long
@pytest.mark.parametrize(
    ("commits", "why"),
    [
        ([START, NOTE, {"stats.py": f"{GOOD}\n\nOTHER = 1\n"}], "its tests pass without it"),
        ([START, {"test_stats.py": TEST.replace("1.5", "1")}, {"stats.py": BAD}],
         "not broken by source"),
        ([START, {"stats.py": BAD}, {"stats.py": f"# Half.\n{BAD}"}, {"stats.py": GOOD}],
         "the source changed between"),
        ([{"stats.py": BAD, "test_stats.py": TEST}, {"stats.py": GOOD}], "no green commit"),
        ([START, {"stats.py": BAD}, {"stats.py": f"{BAD}\n\n\nTHIRD = 3\n"}], "red when mended"),
    ],
)  # fmt: skip
def test_what_is_no_regression_is_dropped(
    tmp_path: Path, commits: list[dict[str, str]], why: str
) -> None:
    bench, shas = on_a_bench(tmp_path, *commits)
    change = _change(bench.clone, shas[-1])
    with pytest.raises(DroppedError, match=why):
        broke(bench, change)


def test_only_small_changes_of_source_that_say_so_may_mend(tmp_path: Path) -> None:
    bench, _ = on_a_bench(tmp_path, START, {"stats.py": BAD})
    assert not list(mends(bench.clone))
