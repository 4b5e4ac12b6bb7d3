"""A small project with a history, on a bench whose environment is our own."""

from __future__ import annotations

import sys
from pathlib import Path

from benchmarks.street.clones import find
from benchmarks.street.workbench import Bench
from tests.github_server.repository import GitRepository


def on_a_bench(folder: Path, *commits: dict[str, str]) -> tuple[Bench, tuple[str, ...]]:
    """The bench of a project with these commits, each the files that it writes, and their ids."""
    git, work = GitRepository(folder / "data/clones/ada+stats"), folder / "written"
    git.init()
    work.mkdir()
    for number, files in enumerate(commits):
        for name, text in files.items():
            (work / name).write_text(text)
        git.import_folder(work, f"Commit {number}")
    bench = Bench(find(folder / "data", "ada/stats"), folder / "data", folder / "place", "3.11")
    bench.clone.check_out(bench.tree)
    program = bench.venv / "bin/python"
    program.parent.mkdir(parents=True)
    program.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    program.chmod(0o755)
    return bench, git.log("main")
