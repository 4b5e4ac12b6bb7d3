"""A suite whose report says that it takes longer than there is time."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

REPORT = """<testsuite name="pytest" tests="4" failures="2" time="900">
<testcase classname="test_prices" name="test_total"><failure message="assert -1 == 5"/></testcase>
<testcase classname="test_prices" name="test_other"><failure message="assert 11 == 3"/></testcase>
<testcase classname="test_prices" name="test_none"/><testcase classname="test_far" name="test_far"/>
</testsuite>"""


@pytest.mark.slow
def test_the_impacted_tests_run_and_the_missing_check_is_named(
    tmp_path: Path, planted: Callable, heal_bot: Callable
) -> None:
    repo = planted(tmp_path / "repo")
    (tmp_path / "junit.xml").write_text(REPORT)
    done = heal_bot(
        tmp_path, "heal", "--repo", repo, "--junit", tmp_path / "junit.xml",
        "--python", sys.executable, "--proposers", "rules", "--out", "out", "--max-minutes", 10,
    )  # fmt: skip
    assert done.stdout.startswith("plan: the suite takes 900.0 s"), done.stdout + done.stderr
    outcome = json.loads((tmp_path / "out" / "outcome.json").read_text())
    certificate = outcome["certificate"]
    assert outcome["status"] == "healed"
    assert certificate["full_suite"]["complete"] is False
    assert certificate["full_suite"]["passed"] == 2
    assert any(
        "let the repository's own CI run the whole suite" in d for d in certificate["doubts"]
    )
