"""The demo as a newcomer runs it, and the part of it that the README shows."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent


def _lines(text: str) -> list[str]:
    """The lines that say something, without Markdown's escapes; counts depend on the machine."""
    counted = re.compile(r"\d+(?= tried)|\d+(?= candidates)|\d+\.\d+(?= \|$)")
    shown = re.sub(r"\\([^\w\s])", r"\1", text)
    # A warning is a block of its own on GitHub, and has a sign here.
    plain = (re.sub(r"^(?:⚠|>) ", "", line) for line in shown.splitlines())
    return [counted.sub("N", line) for line in plain if line.strip()]


@pytest.mark.slow
def test_the_readme_shows_what_the_demo_prints() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "examples.demo"],
        cwd=ROOT, capture_output=True, text=True, timeout=1100,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    excerpt = "\n".join(re.findall(r"^> ?(.*)$", readme, re.MULTILINE))
    assert len(_lines(excerpt)) > 15
    printed = _lines(done.stdout)
    assert [line for line in _lines(excerpt) if line not in printed] == []
    assert (ROOT / "build/demo-pull-request.md").is_file()
    summary = done.stdout.splitlines()[-6:]
    assert re.match(r"result: +fixes (\d+) of (\d+) failing tests", summary[0])
    assert summary[-1].endswith(" build/demo/report.html")
    assert (ROOT / "build/demo/report.html").is_file()
    assert len(done.stdout.splitlines()) < 120
