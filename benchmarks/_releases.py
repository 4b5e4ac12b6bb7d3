"""Releases of public projects: unpacked below build/, with an environment for their suites."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tarfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks._cases import read_cases

BUILD = Path(__file__).parent.parent / "build" / "releases"
_SECONDS = 300


TABLE = read_cases("releases")


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
    done = call(argv, cwd, _SECONDS, **env)
    if done.returncode != 0:
        raise Failed(f"{' '.join(argv[:5])}: {(done.stderr or done.stdout).strip()[-300:]}")
    return done.stdout


def sdist(name: str) -> Path:
    """The release unpacked below BUILD; downloaded once, its hash checked each time."""
    pin = TABLE["releases"][name]
    version, sha256 = pin["version"], pin["sha256"]
    archive = BUILD / f"{name}-{version}.tar.gz"
    if not archive.is_file():
        BUILD.mkdir(parents=True, exist_ok=True)
        locked = BUILD / f"{name}.txt"
        locked.write_text(f"{name}=={version} --hash=sha256:{sha256}\n")
        get = [sys.executable, "-m", "pip", "download", "--quiet", "--no-binary", ":all:"]
        get += ["--no-deps", "--require-hashes", "--dest", str(BUILD), "-r", str(locked)]
        demand(get, BUILD)
    found = hashlib.sha256(archive.read_bytes()).hexdigest()
    if found != sha256:
        raise Failed(f"{archive.name} has SHA-256 {found}, not the pinned one: remove it")
    folder = BUILD / f"{name}-{version}"
    if not folder.is_dir():
        with tarfile.open(archive) as opened:
            opened.extractall(BUILD, filter="data")
    return folder


def environment(name: str, *wanted: str) -> Path:
    """The interpreter of a virtual environment with these packages, made once."""
    return make_environment(BUILD / f"{name}-venv", wanted)


def make_environment(folder: Path, wanted: Sequence[str], python: str = sys.executable) -> Path:
    """The Python of an environment in a folder, which is made once for what is wanted."""
    stamp, program = folder / "ready", folder / "bin/python"
    if not stamp.is_file() or stamp.read_text() != "\n".join(wanted):
        folder.parent.mkdir(parents=True, exist_ok=True)
        demand([python, "-m", "venv", "--clear", str(folder)], folder.parent)
        demand([str(program), "-m", "pip", "install", "--quiet", *wanted], folder.parent)
        stamp.write_text("\n".join(wanted))
    return program
