"""A project below the top whose tests a script runs, healed through the real command line."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.long

FILES = {
    "services/shop/pricing.py": "def total(prices):\n    return sum(prices[1:])\n",
    "services/shop/checks.py": "import unittest\n\nfrom pricing import total\n\n\n"
    "class Totals(unittest.TestCase):\n"
    "    def test_none(self):\n        self.assertEqual(total([]), 0)\n\n"
    "    def test_one(self):\n        self.assertEqual(total([4]), 4)\n\n"
    "    def test_some(self):\n        self.assertEqual(total([1, 2, 3]), 6)\n",
    "services/web/pricing.py": "def total(prices):\n    return 0\n",
}


def _heal_bot(*args: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-I", "-m", "heal_bot", *args], cwd=cwd, capture_output=True, text=True,
        timeout=600, env={"PATH": "/usr/local/bin:/usr/bin:/bin"},
    )  # fmt: skip


def test_a_change_for_a_script_below_the_top_is_suggested_and_begins_at_the_top(
    tmp_path: Path,
) -> None:
    repo = tmp_path / "repo"
    for name, text in FILES.items():
        (repo / name).parent.mkdir(parents=True, exist_ok=True)
        (repo / name).write_text(text)
    who = ("-c", "user.name=t", "-c", "user.email=t@example.invalid")
    for command in (("init", "-q", "-b", "main"), ("add", "."), (*who, "commit", "-qm", "all")):
        subprocess.run(["git", *command], cwd=repo, check=True, capture_output=True)
    mode = "strict" if _heal_bot("doctor", cwd=tmp_path).returncode == 0 else "reduced"
    settings = ("--python", sys.executable, "--sandbox", mode,
                "--test-command", "python -m unittest checks",
                "--working-directory", "services/shop")  # fmt: skip
    done = _heal_bot("heal", "--repo", "repo", "--out", "out", *settings, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    outcome = json.loads((tmp_path / "out/outcome.json").read_text())
    # No call of a command's own processes is repeated: what else a change does is not known.
    assert outcome["status"] == "not_healed", done.stdout
    suggestion = outcome["suggestion"]
    assert suggestion["fixed"] == ["command"]
    assert [f["path"] for f in suggestion["functions"]] == ["services/shop/pricing.py"]
    assert "+    return sum(prices)" in suggestion["diff"]
    argv = ("git", "apply", "--check", str(tmp_path / "out/suggestion.diff"))
    subprocess.run(argv, cwd=repo, check=True, capture_output=True)
