"""What the benchmarks have repaired: a project with red tests, and how to judge its repair.

Our own tasks are the files of `benchmarks/tasks` (`_taskfile` reads them); QuixBugs has others.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks._quixbugs import FRESH
from benchmarks._repositories import commit_files

_PATCHED = "{patched}"


@dataclass(frozen=True, slots=True)
class Wrong:
    """A module that passes the search tests and is not right, and what it gets wrong."""

    why: str
    source: str


@dataclass(frozen=True, slots=True)
class Task:
    """A project with red tests; `judge` runs on the patched file.

    It ends with 0 where that is right, with 2 where it but passes the tests that are seen.

    Our own tasks know more: the function to repair, the hidden tests, the right and wrong modules.
    """

    name: str
    path: str
    files: dict[str, str]
    judge: tuple[str, ...]
    category: str = ""
    repair: str = ""
    target: str = ""
    hidden: str = ""
    reference: str = ""
    wrong: tuple[Wrong, ...] = ()

    @property
    def module(self) -> str:
        """The red module."""
        return self.files[self.path]

    @property
    def search(self) -> str:
        """The tests that a healer sees."""
        return self.files[f"tests/test_{self.name}.py"]


def quixbugs(data: Path) -> Iterator[Task]:
    """The programs of a checkout of jkoppel/QuixBugs, judged on fresh inputs."""
    for name in sorted(FRESH):
        files = {
            path: (data / path).read_text(encoding="utf-8")
            for path in (
                "conftest.py",
                f"python_programs/{name}.py",
                f"python_testcases/test_{name}.py",
                "python_testcases/load_testdata.py",
                f"json_testcases/{name}.json",
                "python_testcases/node.py",
                "python_programs/node.py",
            )
            if (data / path).exists()
        }
        reference = data / "correct_python_programs" / f"{name}.py"
        judge = (sys.executable, "-m", "benchmarks._quixbugs", name, _PATCHED, str(reference))
        yield Task(name, f"python_programs/{name}.py", files, judge)


def commit(task: Task, folder: Path) -> None:
    """The task as a repository."""
    shutil.rmtree(folder, ignore_errors=True)
    commit_files(folder, "Task", task.files)


def judged(task: Task, patched: str) -> tuple[bool, bool]:
    """Whether a file passes the tests that were seen, and holds what these do not say besides."""
    with tempfile.TemporaryDirectory(prefix="heal-bot-judge-") as folder:
        file = Path(folder) / "patched.py"
        file.write_text(patched, encoding="utf-8")
        argv = [part.replace(_PATCHED, str(file)) for part in task.judge]
        try:
            done = subprocess.run(
                argv, cwd=Path(__file__).parent.parent, capture_output=True, timeout=120
            )
        except subprocess.TimeoutExpired:
            return False, False
    return done.returncode in {0, 2}, done.returncode == 0
