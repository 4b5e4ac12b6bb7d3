"""Heals bugs planted in released libraries, reported by their own test suites.

For each library: the pinned sdist becomes a git repository with one bug in it, its suite writes
the JUnit XML, `heal-bot heal` repairs it offline, and the untouched release judges the patch: its
whole suite must pass, and the repaired function is compared with the released one.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tarfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path

BUILD = Path(__file__).parent.parent / "build" / "real_project"
_SECONDS = 300


@dataclass(frozen=True, slots=True)
class Bug:
    """A text edit that must apply once and turn at least one test red."""

    path: str
    qualname: str
    right: str
    wrong: str


@dataclass(frozen=True, slots=True)
class Project:
    """A release; the first bug is planted at default size, each of them with --full."""

    name: str
    version: str
    sha256: str
    requirements: tuple[str, ...]
    bugs: tuple[Bug, ...]


PROJECTS = (
    Project(
        "cachetools",
        "7.2.8",
        "3f9b146b2160975da273e7c23ec882f3996b65df608150d52083c07de0682075",
        ("pytest==9.2.0",),
        (
            Bug(
                "src/cachetools/__init__.py",
                "Cache.__setitem__",
                "diffsize = itemsize - size[key]",
                "diffsize = size[key] - itemsize",
            ),
            Bug(
                "src/cachetools/__init__.py",
                "LFUCache.__touch",
                "if len(link.keys) == 1:",
                "if len(link.keys) >= 1:",
            ),
        ),
    ),
    Project(
        "humanize",
        "4.15.0",
        "1dd098483eb1c7ee8e32eb2e99ad1910baefa4b75c3aff3a82f4d78688993b10",
        ("pytest==9.2.0", "freezegun==1.5.5"),
        (
            Bug(
                "src/humanize/filesize.py",
                "naturalsize",
                "log(abs_bytes, base)",
                "log(bytes_, base)",
            ),
            Bug(
                "src/humanize/number.py",
                "intword",
                "bisect.bisect_right(powers, value)",
                "bisect.bisect_left(powers, value)",
            ),
        ),
    ),
    Project(
        "tabulate",
        "0.10.0",
        "e2cfde8f79420f6deeffdeda9aaec3b6bc5abce947655d17ac662b126e48a60d",
        ("pytest==9.2.0", "wcwidth==0.9.4"),
        (
            Bug(
                "tabulate/__init__.py",
                "_append_multiline_row",
                "_align_cell_veritically(cl, nlines, w, rowalign)",
                "_align_cell_veritically(cl, w, nlines, rowalign)",
            ),
            Bug(
                "tabulate/__init__.py",
                "_build_simple_row",
                "(begin + sep.join(padded_cells) + end).rstrip()",
                "begin + sep.join(padded_cells) + end",
            ),
        ),
    ),
)


@dataclass(frozen=True, slots=True)
class Result:
    """What became of one bug; `status` is that of the outcome, or suggestion."""

    project: str
    function: str
    red: int
    status: str
    healed: bool
    equal: bool
    seconds: float


class Failed(Exception):
    """A step that must work did not."""


def call(
    argv: list[str], cwd: Path, seconds: float = _SECONDS, **env: str
) -> subprocess.CompletedProcess[str]:
    """Run a program with a small environment and a time limit."""
    keep = {k: v for k, v in os.environ.items() if k.startswith(("PIP_", "SSL_", "HTTP", "http"))}
    base = {"PATH": os.defpath, "HOME": str(BUILD), "LANG": "C.UTF-8"}
    return subprocess.run(
        argv,
        cwd=cwd,
        env={**keep, **base, **env},
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
    )


def demand(argv: list[str], cwd: Path, **env: str) -> str:
    """As `call`, Failed when the program fails."""
    done = call(argv, cwd, **env)
    if done.returncode != 0:
        raise Failed(f"{' '.join(argv[:5])}: {(done.stderr or done.stdout).strip()[-300:]}")
    return done.stdout


def sdist(project: Project) -> Path:
    """The release unpacked below BUILD; downloaded once, its hash checked each time."""
    archive = BUILD / f"{project.name}-{project.version}.tar.gz"
    pin = f"{project.name}=={project.version}"
    if not archive.is_file():
        BUILD.mkdir(parents=True, exist_ok=True)
        locked = BUILD / f"{project.name}.txt"
        locked.write_text(f"{pin} --hash=sha256:{project.sha256}\n")
        get = [sys.executable, "-m", "pip", "download", "--quiet", "--no-binary", ":all:"]
        get += ["--no-deps", "--require-hashes", "--dest", str(BUILD), "-r", str(locked)]
        demand(get, BUILD)
    found = hashlib.sha256(archive.read_bytes()).hexdigest()
    if found != project.sha256:
        raise Failed(f"{archive.name} has SHA-256 {found}, not the pinned one: remove it")
    folder = BUILD / f"{project.name}-{project.version}"
    if not folder.is_dir():
        with tarfile.open(archive) as opened:
            opened.extractall(BUILD, filter="data")
    return folder


def environment(project: Project) -> Path:
    """The interpreter of a virtual environment with what the suite needs, made once."""
    folder = BUILD / f"{project.name}-venv"
    stamp = folder / "ready"
    wanted = "\n".join(project.requirements)
    if not stamp.is_file() or stamp.read_text() != wanted:
        shutil.rmtree(folder, ignore_errors=True)
        BUILD.mkdir(parents=True, exist_ok=True)
        demand([sys.executable, "-m", "venv", str(folder)], BUILD)
        demand(
            [str(folder / "bin/python"), "-m", "pip", "install", "--quiet", *project.requirements],
            BUILD,
        )
        stamp.write_text(wanted)
    return folder / "bin/python"


def suite(python: Path, folder: Path, report: Path | None = None) -> int:
    """Run the project's whole suite; its exit code (0 all passed, 1 some failed).

    The project's own configuration is named, because pytest would go on to look in the folders
    above, which are ours.
    """
    argv = [str(python), "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", "pyproject.toml"]
    argv += [f"--junitxml={report}"] if report else []
    return call(argv, folder, PYTHONPATH="src:.", PYTHONDONTWRITEBYTECODE="1").returncode


def plant(release: Path, bug: Bug, folder: Path) -> None:
    """A git repository of the release with the bug committed."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(release, folder)
    text = (folder / bug.path).read_text(encoding="utf-8")
    if text.count(bug.right) != 1:
        raise Failed(f"{bug.right!r} is {text.count(bug.right)} times in {bug.path}")
    (folder / bug.path).write_text(text.replace(bug.right, bug.wrong), encoding="utf-8")
    who = [
        "-c",
        "user.name=bench",
        "-c",
        "user.email=bench@localhost",
        "-c",
        "commit.gpgsign=false",
    ]
    for step in (["init", "-q", "-b", "main"], ["add", "-Af"], [*who, "commit", "-qm", "Release"]):
        demand(["git", *step], folder, GIT_CONFIG_NOSYSTEM="1")


def function(source: str, qualname: str) -> str:
    """The syntax tree of a function as text, positions left out; "" when it is not there."""
    node: ast.AST = ast.parse(source)
    for name in qualname.split("."):
        inner = [n for n in ast.walk(node) if getattr(n, "name", None) == name and n is not node]
        if not inner:
            return ""
        node = inner[0]
    return ast.dump(node)


def heal(project: Project, bug: Bug) -> Result:
    """Plant, report, heal, judge."""
    release, python = sdist(project), environment(project)
    if suite(python, release) != 0:
        raise Failed(f"the suite of {project.name} {project.version} is red as released")
    work = BUILD / "work" / project.name / bug.qualname
    plant(release, bug, work / "repo")
    report = work / "repo" / "junit.xml"
    if suite(python, work / "repo", report) != 1:
        raise Failed(f"no test of {project.name} notices {bug.wrong!r}")
    red = report.read_text(encoding="utf-8", errors="replace").count("<failure")
    shutil.rmtree(work / "bundle", ignore_errors=True)
    start = time.monotonic()
    bot = [sys.executable, "-m", "heal_bot", "heal", "--repo", str(work / "repo")]
    bot += ["--junit", str(report), "--python", str(python), "--proposers", "rules"]
    bot += ["--max-minutes", "5", "--out", str(work / "bundle")]
    done = call(bot, Path(__file__).parent.parent, seconds=2 * _SECONDS)
    seconds = time.monotonic() - start
    if done.returncode != 0:
        raise Failed(f"heal-bot ended with {done.returncode}: {done.stderr.strip()[-300:]}")
    outcome = json.loads((work / "bundle/outcome.json").read_text(encoding="utf-8"))
    green, equal = judge(project, bug, python, release, work / "judged", outcome)
    healed = outcome["status"] == "healed" and green
    status = outcome["status"] if outcome["patch"] or not green else "suggestion"
    equal = equal and healed
    place = f"{bug.path}::{bug.qualname}"
    return Result(project.name, place, red, status, healed, equal, round(seconds, 1))


def judge(
    project: Project, bug: Bug, python: Path, release: Path, folder: Path, outcome: dict
) -> tuple[bool, bool]:
    """Whether the bug with the patch or the suggestion passes the suite, and is as released."""
    if not outcome["patch"] and not outcome["suggestion"]:
        return False, False
    plant(release, bug, folder)
    diff = "patch.diff" if outcome["patch"] else "suggestion.diff"
    demand(["git", "apply", str(folder.parent / "bundle" / diff)], folder)
    original = function((release / bug.path).read_text(encoding="utf-8"), bug.qualname)
    made = function((folder / bug.path).read_text(encoding="utf-8"), bug.qualname)
    return suite(python, folder) == 0, original != "" and made == original


def main(argv: list[str]) -> int:
    """Run the benchmark; the last line is one JSON object."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks real_project")
    parser.add_argument("--json", action="store_true", help="print the last line alone")
    parser.add_argument("--full", action="store_true", help="plant every bug, not one a project")
    options = parser.parse_args(argv)
    start = time.monotonic()
    results: list[Result] = []
    problems: list[str] = []
    for project in PROJECTS:
        for bug in project.bugs if options.full else project.bugs[:1]:
            try:
                results.append(heal(project, bug))
            except (Failed, OSError, subprocess.TimeoutExpired, KeyError, ValueError) as error:
                problems.append(f"{project.name} {bug.qualname}: {type(error).__name__}: {error}")
            if not options.json:
                print(results[-1] if not problems else problems[-1], flush=True)
    summary = {
        "projects": len(PROJECTS),
        "bugs": len(results) + len(problems),
        "healed": sum(r.healed for r in results),
        "suggestion": sum(r.status == "suggestion" for r in results),
        "equal_to_original": sum(r.equal for r in results),
        "seconds": round(time.monotonic() - start, 1),
        "complete": not problems,
        "problems": problems,
        "results": [asdict(r) for r in results],
    }
    print(json.dumps(summary))
    return 0 if not problems else 1
