"""Projects whose reports are written by really running a test runner over them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from heal_bot.core.events import Run
from heal_bot.core.model import Collection, Report
from heal_bot.junit import reader, reported_tests
from tests.junit.dialects import RECORDER


@dataclass(frozen=True)
class Recorded:
    """What pytest itself said: node ids collected and failed; `truth` has broken files as well."""

    collected: tuple[str, ...]
    failed: frozenset[str]
    truth: frozenset[str]


@dataclass(frozen=True)
class Project:
    """A folder with tests in it."""

    root: Path
    tools: Path
    run: Run

    def write(self, **files: str) -> None:
        """Write files; the names are paths, so call it with `**{"a/b.py": text}`."""
        for name, text in files.items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")

    def python(self, *argv: str, cwd: str = ".", **env: str) -> subprocess.CompletedProcess[str]:
        """Run this interpreter with a built environment."""
        return subprocess.run(
            [sys.executable, *argv],
            cwd=self.root / cwd,
            env={
                "PATH": os.environ["PATH"],
                "HOME": str(self.tools),
                "PYTHONPATH": f"{self.tools}:{self.root}",
                "PYTHONDONTWRITEBYTECODE": "1",
                "LC_ALL": "C.UTF-8",
                "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
                "RECORD": str(self.tools / "record.json"),
                **env,
            },
            capture_output=True,
            text=True,
            errors="replace",
            timeout=120,
            check=False,
        )

    def pytest(
        self, *argv: str, cwd: str = ".", report: str = "report.xml", **env: str
    ) -> Recorded:
        """Run pytest, which writes `report` into the root, and record what it did."""
        record = self.tools / "record.json"
        record.unlink(missing_ok=True)
        done = self.python(
            "-m",
            "pytest",
            "-q",
            "-p",
            "recorder",
            "-p",
            "no:cacheprovider",
            f"--junitxml={self.root / report}",
            *argv,
            cwd=cwd,
            **env,
        )
        assert record.exists(), done.stdout[-3000:] + done.stderr[-3000:]
        seen = json.loads(record.read_text())
        failed = frozenset(seen["failed"])
        return Recorded(tuple(seen["collected"]), failed, failed.union(seen["errors"]))

    def paths(self) -> tuple[str, ...]:
        """All files of the project but the reports."""
        return tuple(
            sorted(
                str(path.relative_to(self.root))
                for path in self.root.rglob("*")
                if path.is_file() and path.suffix not in {".xml", ".pyc"}
            )
        )

    def read(self, *patterns: str) -> Report:
        """The report of the patterns, `report.xml` by default."""
        return reader.read_reports(self.run, self.root, patterns or ("report.xml",))

    def resolve(self, collected: tuple[str, ...], *patterns: str) -> reported_tests.Resolved:
        """What the report means in this checkout."""
        return reported_tests.resolve(
            self.run,
            self.read(*patterns),
            Collection(collected),
            self.paths(),
            lambda path: (self.root / path).read_bytes(),
        )


@pytest.fixture
def project(tmp_path: Path, run: Run) -> Project:
    return make_project(tmp_path, run)


def make_project(folder: Path, run: Run) -> Project:
    root, tools = folder / "repo", folder / "tools"
    root.mkdir()
    tools.mkdir()
    (tools / "recorder.py").write_text(RECORDER)
    return Project(root, tools, run)


@pytest.fixture(scope="session")
def new_project(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Project]:
    return lambda name: make_project(tmp_path_factory.mktemp(name), Run(sink=lambda event: None))
