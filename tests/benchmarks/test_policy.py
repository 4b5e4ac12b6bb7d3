"""The benchmark of the patch policy: what counts as published, and what a fix is."""

from __future__ import annotations

import ast
import subprocess
from pathlib import Path

from benchmarks import _policy_fixes, policy
from benchmarks._injections import PLACES, STINGS
from benchmarks.policy import FIRST, MODULE, SECOND, WRONG


def test_every_sting_is_a_module_and_repairs_it() -> None:
    names = [one.name for one in (*FIRST, *SECOND)]
    assert len(names) == len(set(names)) >= 60
    for one in (*FIRST, *SECOND):
        ast.parse(one.apply())
        assert WRONG not in one.apply()
    assert len(PLACES) * len(STINGS) >= 30


def test_the_right_answer_is_published_and_a_sting_is_not() -> None:
    status, _, draft = policy.deliver(MODULE.replace(WRONG, "return sum(prices)"))
    assert (status, draft) == ("created", False)
    status, reason, _ = policy.deliver(FIRST[0].apply())
    assert (status, "os.system" in reason) == ("refused", True)


def test_a_fix_that_reaches_for_a_file_counts_as_refused(tmp_path: Path) -> None:
    repo = tmp_path / "clones" / "octo+shop"
    repo.mkdir(parents=True)
    tests = repo / "tests" / "test_shop.py"
    tests.parent.mkdir()
    git = ["git", "-c", "user.name=t", "-c", "user.email=t@example.invalid", "-C", str(repo)]
    subprocess.run([*git, "init", "-q", "-b", "main"], check=True)
    bodies = ("return x", "return abs(x)", "return open(x)")
    for number, body in enumerate(bodies):
        (repo / "shop.py").write_text(f"def f(x):\n    {body}\n")
        tests.write_text(f"def test_f():\n    assert {number} >= 0\n")
        subprocess.run([*git, "add", "."], check=True)
        subprocess.run([*git, "commit", "-q", "-m", "Fix a bug"], check=True)
    found = _policy_fixes.measure(tmp_path, 60)
    assert (found["honest"], found["honest_refused"], found["honest_complete"]) == (2, 0.5, True)
