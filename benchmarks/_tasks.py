"""What the benchmarks have repaired: a project with red tests, and how to judge its repair.

Our own tasks are the files of `benchmarks/tasks` (`_taskfile` reads them); QuixBugs has others.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
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
    """A project with red tests; `judge` runs on the patched file, and 0 says that it is right.

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
        judge = (sys.executable, "-m", "benchmarks._tasks", name, _PATCHED, str(reference))
        yield Task(name, f"python_programs/{name}.py", files, judge)


def commit(task: Task, folder: Path) -> None:
    """The task as a repository."""
    shutil.rmtree(folder, ignore_errors=True)
    commit_files(folder, "Task", task.files)


def is_right(task: Task, patched: str, folder: Path) -> bool:
    """Whether a patched file holds what its tests do not say."""
    file = folder / "patched.py"
    file.write_text(patched, encoding="utf-8")
    argv = [part.replace(_PATCHED, str(file)) for part in task.judge]
    try:
        done = subprocess.run(
            argv, cwd=Path(__file__).parent.parent, capture_output=True, timeout=120, check=False
        )
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0


if __name__ == "__main__":
    from benchmarks._quixbugs import differing

    sys.exit(bool(differing(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]))[1]))
