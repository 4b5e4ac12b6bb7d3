"""Run the job of each case thrice, and with the right files: python -m benchmarks.street.own."""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from benchmarks.street import plain
from benchmarks.street.own import situations
from benchmarks.street.plain import PlainError
from benchmarks.street.situation import Situation, environment, grow, job, report
from tests.github_server.repository import GitRepository

_RUNS = 3


def main(argv: list[str]) -> int:
    """A line per case, then how many are as they are meant."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.street.own")
    parser.add_argument("--data", type=Path, required=True, help="the folder with uv's cache")
    parser.add_argument("--only", default="", help="the cases whose name or kind has this in it")
    parser.add_argument("--show", action="store_true", help="print what fails and why")
    asked = parser.parse_args(argv)
    counted: Counter[str] = Counter()
    for case in situations():
        if asked.only in f"{case.kind} {case.name}":
            wrong = checked(case, asked.data.resolve(), show=asked.show)
            counted["wrong" if wrong else "right"] += 1
            print(f"{case.kind:<12} {case.action:<8} {case.name}: {wrong or 'ok'}", flush=True)
    print(dict(counted))
    return int(bool(counted["wrong"]))


def checked(case: Situation, data: Path, *, show: bool) -> str:
    """What is not as it is meant; '' where all is."""
    with tempfile.TemporaryDirectory(prefix="own-", dir=data) as name:
        git, workspace, venv = GitRepository(Path(name, "git")), Path(name, "work"), Path(name, "v")
        git.init()
        grow(git, case)
        clone = ["git", "clone", "--quiet", str(git.path), str(workspace)]
        subprocess.run(clone, check=True, capture_output=True, timeout=60)
        try:
            environment(case, workspace, venv, data)
            said = _red(case, workspace, venv, data, show) or _right(case, workspace, venv, data)
            return said or _older(case, workspace, venv, data)
        except (PlainError, subprocess.SubprocessError, OSError) as error:
            return f"not staged: {error}"


def _red(case: Situation, workspace: Path, venv: Path, data: Path, show: bool) -> str:
    """Whether every run fails the same tests; a report by hand is held against one run."""
    path = workspace / "junit.xml"
    seen = []
    for _ in range(_RUNS):
        path.unlink(missing_ok=True)
        report(case, workspace, venv, data)
        if not path.exists():
            return "no report"
        seen.append(plain.failing(path))
    if show:
        print(path.read_text())
    if len(set(seen)) > 1:
        return f"runs differ: {sorted(map(len, seen))}"
    if not seen[0] and case.action != "silent":
        return "green"
    if case.reports:
        return _by_hand(case, workspace, venv, data, seen[0])
    return ""


def _by_hand(
    case: Situation, workspace: Path, venv: Path, data: Path, red: frozenset[tuple[str, str]]
) -> str:
    """A report by hand names tests that are there, and a plain run is green unless repaired."""
    ran = _failing(case, workspace, venv, data)
    there = _tests(workspace / "again.xml")
    if strangers := {t for name in case.reports for t in _tests(workspace / name)} - there:
        return f"tests that are not there: {sorted(strangers)}"
    if case.action == "repair":
        return "" if ran >= red else f"red by hand, green here: {sorted(red - ran)}"
    return f"red here: {sorted(ran)}" if ran else ""


def _right(case: Situation, workspace: Path, venv: Path, data: Path) -> str:
    """Whether hidden tests are red before and all is green with the right files."""
    if case.action != "repair":
        return ""
    _write(workspace, case.hidden)
    hidden = {Path(path).stem for path in case.hidden}
    red = _failing(case, workspace, venv, data)
    if not hidden & {part for test in red for name in test for part in name.split(".")}:
        return "hidden tests are green before"
    _write(workspace, case.right)
    left = _failing(case, workspace, venv, data)
    return f"red when right: {sorted(left)}" if left else ""


def _older(case: Situation, workspace: Path, venv: Path, data: Path) -> str:
    """Whether the version of a dependency from before it broke the tests has them green."""
    if case.package is None:
        return ""
    name, good, _ = case.package
    plain.install(workspace, venv, data, f"{name}=={good}")
    left = _failing(case, workspace, venv, data)
    return f"red with {name} {good}: {sorted(left)}" if left else ""


def _failing(
    case: Situation, workspace: Path, venv: Path, data: Path
) -> frozenset[tuple[str, str]]:
    path = workspace / "again.xml"
    path.unlink(missing_ok=True)
    plain.report(workspace, venv, data, path, job=job(case))
    if not path.exists():
        raise PlainError("no report of a further run")
    return plain.failing(path)


def _tests(path: Path) -> set[tuple[str, str]]:
    """Class and name of all tests of a report."""
    cases = ElementTree.parse(path).iter("testcase")
    return {(case.get("classname", ""), case.get("name", "")) for case in cases}


def _write(workspace: Path, files: Mapping[str, str]) -> None:
    for path, text in files.items():
        (workspace / path).parent.mkdir(parents=True, exist_ok=True)
        (workspace / path).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
