"""Releases of public projects: unpacked below build/, with an environment for their suites."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
from dataclasses import dataclass
from pathlib import Path

BUILD = Path(__file__).parent.parent / "build" / "releases"
_SECONDS = 300


@dataclass(frozen=True, slots=True)
class Project:
    """A release by its hash, and what its suite needs."""

    name: str
    version: str
    sha256: str
    requirements: tuple[str, ...]


PROJECTS = (
    Project(
        "cachetools",
        "7.2.8",
        "3f9b146b2160975da273e7c23ec882f3996b65df608150d52083c07de0682075",
        ("pytest==9.2.0",),
    ),
    Project(
        "humanize",
        "4.15.0",
        "1dd098483eb1c7ee8e32eb2e99ad1910baefa4b75c3aff3a82f4d78688993b10",
        ("pytest==9.2.0", "freezegun==1.5.5"),
    ),
    Project(
        "tabulate",
        "0.10.0",
        "e2cfde8f79420f6deeffdeda9aaec3b6bc5abce947655d17ac662b126e48a60d",
        ("pytest==9.2.0", "wcwidth==0.9.4"),
    ),
)


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
