"""How long heal takes over the tests it cannot do without, and an interpreter to measure with."""

from __future__ import annotations

import contextlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks._cases import read_cases
from benchmarks._repositories import commit_files

CONFIGURATION = '[tool.pytest.ini_options]\npythonpath = ["."]\n'
_TESTS = 40


@dataclass(frozen=True)
class Files:
    """A tree that is a dict."""

    files: dict[str, str]

    def paths(self) -> tuple[str, ...]:
        """All paths."""
        return tuple(sorted(self.files))

    def read(self, path: str) -> bytes:
        """The bytes of a file."""
        return self.files[path].encode()


@contextlib.contextmanager
def interpreter() -> Iterator[Path]:
    """An environment with pytest alone, readable by every user."""
    with tempfile.TemporaryDirectory(prefix="heal-bot-bench-env-") as folder:
        os.chmod(folder, 0o755)  # noqa: PTH101
        venv.create(folder, with_pip=True)
        python = Path(folder) / "bin" / "python"
        pip = [str(python), "-m", "pip", "install", "-q", "--disable-pip-version-check"]
        subprocess.run([*pip, "pytest==9.2.0"], check=True)
        yield python


def ratio(python: Path, seconds: float, rounds: int) -> dict[str, Any]:
    """Wall seconds of heal over one plain run and two side by side, the median of `rounds`.

    Half of each test waits and half computes; one function is wrong, and the first candidate
    that is tried of the right kind repairs it.
    """
    with tempfile.TemporaryDirectory(prefix="heal-bot-bench-") as place:
        folder = Path(place) / "shop"
        _write(folder, seconds)
        pytest = [str(python), "-m", "pytest", "-q", "-p", "no:cacheprovider"]
        report = Path(place) / "junit.xml"
        subprocess.run([*pytest, f"--junitxml={report}"], cwd=folder, stdout=subprocess.DEVNULL)
        heal = [
            sys.executable, "-m", "heal_bot", "heal", "--repo", str(folder), "--junit", str(report),
            "--python", str(python), "--proposers", "rules", "--out", f"{place}/out", "--quiet",
        ]  # fmt: skip
        # An installed heal-bot has its bytecode; the first heal leaves it, and is not measured.
        installed = {**os.environ, "PYTHONPYCACHEPREFIX": f"{place}/bytecode"}
        installed.pop("PYTHONDONTWRITEBYTECODE", None)
        plain = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
        _timed([heal], Path.cwd(), installed)
        rows = []
        for _ in range(rounds):
            one = _timed([pytest], folder, plain)
            two = _timed([pytest, pytest], folder, plain)
            healed = _timed([heal], Path.cwd(), installed)
            rows.append((healed / (one + two), one, two, healed))
        outcome = json.loads(Path(place, "out", "outcome.json").read_text())
        assert outcome["status"] == "healed", outcome["reason"]
    middle = sorted(rows)[len(rows) // 2]
    return {
        "ratio": round(statistics.median(row[0] for row in rows), 2),
        "plain": round(middle[1], 2),
        "two_side_by_side": round(middle[2], 2),
        "heal": round(middle[3], 2),
        "ratios": [round(row[0], 2) for row in rows],
    }


def _timed(commands: list[list[str]], folder: Path, env: dict[str, str]) -> float:
    """Wall seconds until all of the commands, started together, have ended."""
    began = time.monotonic()
    started = [
        subprocess.Popen(argv, cwd=folder, env=env, stdout=subprocess.DEVNULL) for argv in commands
    ]
    for process in started:
        process.wait(600)
    return time.monotonic() - began


def _write(folder: Path, seconds: float) -> None:
    share = seconds / _TESTS / 2
    work = (
        f"    time.sleep({share})\n    began = time.process_time()\n"
        f"    while time.process_time() - began < {share}:\n        assert spread(500) >= 0\n"
    )
    tests = "".join(f"\n\ndef test_work_{n}():\n{work}" for n in range(_TESTS))
    slow = {"tests/test_work.py": f"import time\n\nfrom shop.price import spread\n{tests}"}
    commit_files(folder, "all", read_cases("projects")["wall"] | slow)
