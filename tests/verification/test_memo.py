"""A function whose results are kept: an earlier test keeps a failing one out of it."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

FILES = {
    "paths.py": (
        "from functools import lru_cache\n\n\n@lru_cache\ndef depth(path):\n"
        "    return path.count('/') - 1\n\n\ndef is_deep(path, least):\n"
        "    return depth(path) >= least\n"
    ),
    "test_paths.py": (
        "from paths import depth, is_deep\n\n\ndef test_shallow():\n"
        "    assert not is_deep('a/b/c/d', 9)\n\n\ndef test_deep():\n"
        "    assert is_deep('a/b/c/d', 3)\n    assert not is_deep('a/b/c/d', 4)\n"
    ),
}


@pytest.mark.long
def test_a_function_that_a_failing_test_would_enter_by_itself_is_suspected(
    tmp_path: Path, heal_bot: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    who = ("-c", "user.name=t", "-c", "user.email=t@localhost")
    for words in (("init", "-q"), ("add", "-A"), ("commit", "-qm", "First")):
        subprocess.run(["git", *who, *words], cwd=tmp_path, check=True)
    out = tmp_path / "bundle"
    heal_bot(tmp_path, "heal", "--proposers", "rules", "--out", out, "--quiet")
    record = json.loads((out / "outcome.json").read_text())
    suspects = [suspect for cluster in record["clusters"] for suspect in cluster["suspects"]]
    named = {(suspect["path"], suspect["qualname"]) for suspect in suspects}
    assert ("paths.py", "depth") in named
