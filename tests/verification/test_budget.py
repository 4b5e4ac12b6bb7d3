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
    more = "".join(f"\n\ndef test_{n}():\n    assert total({n}, 1) == {n + 1}\n" for n in range(3))
    repo = planted(tmp_path / "repo", {"test_more.py": f"from prices import total\n{more}"})
    case = '<testcase classname="test_more" name="test_{}"><failure message="assert 0"/></testcase>'
    cases = "".join(map(case.format, range(3)))
    report = REPORT.replace('tests="4" failures="2"', 'tests="7" failures="5"')
    (tmp_path / "junit.xml").write_text(report.replace("</testsuite>", f"{cases}</testsuite>"))
    done = heal_bot(
        tmp_path, "heal", "--repo", repo, "--junit", tmp_path / "junit.xml",
        "--python", sys.executable, "--proposers", "rules", "--out", "out", "--max-minutes", 10,
    )  # fmt: skip
    assert done.stdout.startswith("plan: the test suite takes 900.0 s"), done.stdout + done.stderr
    outcome = json.loads((tmp_path / "out" / "outcome.json").read_text())
    certificate = outcome["certificate"]
    assert outcome["status"] == "healed"
    assert certificate["full_suite"]["complete"] is False
    assert certificate["full_suite"]["passed"] == 5
    assert any(
        "let the repository's own CI run the whole suite" in d for d in certificate["doubts"]
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("conftest", "options"),
    [
        ("import time; time.sleep(60)\n", ("--junit", "junit.xml")),
        ("import time; time.sleep(60)\n", ()),
        ("def pytest_runtest_call(): __import__('time').sleep(60)\n", ("--junit", "junit.xml")),
        ("", ("--junit", "junit.xml", "--max-minutes", 0.005)),
    ],
    ids=["collect", "suite", "tests", "before"],
)
def test_a_spent_budget_is_called_so_wherever_it_ends_the_run(
    tmp_path: Path, planted: Callable, heal_bot: Callable, conftest: str, options: tuple[str, ...]
) -> None:
    repo = planted(tmp_path / "repo", {"conftest.py": conftest})
    (tmp_path / "junit.xml").write_text(REPORT.replace(' time="900"', ""))
    done = heal_bot(
        tmp_path, "heal", "--repo", repo, "--python", sys.executable, "--proposers", "rules",
        "--out", "out", "--max-minutes", 0.1, *options,
    )  # fmt: skip
    outcome = json.loads((tmp_path / "out" / "outcome.json").read_text())
    assert (outcome["status"], outcome["stopped"]) == ("budget_exhausted", "budget"), outcome
    assert "--max-minutes" in done.stdout
    assert "doctor" not in done.stdout
