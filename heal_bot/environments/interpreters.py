"""The Pythons of this machine, read as files, and which of them a repository is tested with."""

from __future__ import annotations

import os
import pwd
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from packaging.specifiers import SpecifierSet
from packaging.version import Version

from heal_bot.core.errors import ProvisionError
from heal_bot.core.text import one_line
from heal_bot.environments.target_interpreter import Interpreter, find

IN_THE_JOB = "run `heal-bot heal` in the test job itself, where the tests' own environment is"
_NAME = re.compile(r"python3\.\d+\Z")
_GIVEN = re.compile(r"3\.\d{1,2}(?:\.\d{1,3})?\Z")
_SYSTEM = ("/usr/local/bin", "/usr/bin")


def list_installed() -> tuple[Interpreter, ...]:
    """Every usable CPython at the places where they lie, the newest first; nothing is run."""
    found: dict[Path, Interpreter] = {}
    for program in _programs():
        try:
            python = find(program)
        except (ProvisionError, OSError):
            continue
        if python.venv is None and not python.short.endswith("t"):
            found.setdefault(python.program, python)
    return tuple(sorted(found.values(), key=_version, reverse=True))


def _programs() -> Iterator[Path]:
    home = Path(pwd.getpwuid(os.geteuid()).pw_dir)
    folders = [Path(sys.base_prefix, "bin"), *map(Path, _SYSTEM)]
    folders += sorted(Path("/opt/hostedtoolcache/Python").glob("3.*/*/bin"), reverse=True)
    folders += sorted(home.glob(".pyenv/versions/3.*/bin"), reverse=True)
    folders += sorted(home.glob(".local/share/uv/python/cpython-3.*/bin"), reverse=True)
    for folder in folders:
        if folder.is_dir():
            yield from sorted(p for p in folder.iterdir() if _NAME.match(p.name))


def choose(
    there: Sequence[Interpreter],
    given: str,
    wishes: Iterable[tuple[Sequence[str], str]],
    requires: str,
) -> tuple[Interpreter, str]:
    """The Python to test with, and a note when it is not the one of the failing run.

    `given` is what the user asks for and must be there. Of `wishes` (versions, where they
    stand) the first counts of which one is there that `requires` (requires-python) admits: of
    several, as of all where nothing is named, our own version, else the newest.
    ProvisionError names what is there.
    """
    have = ", ".join(python.version for python in there) or "none"
    if given:
        if not _GIVEN.match(given):
            raise ProvisionError(f"python-version {one_line(given)} is not a version such as 3.12")
        exact = [python for python in there if f"{python.version}.".startswith(f"{given}.")]
        if exact:
            return exact[0], ""
        raise ProvisionError(
            f"Python {given} is not on this machine (there is {have}): "
            f"give another python-version, or {IN_THE_JOB}"
        )
    admitted = [python for python in there if _admits(requires, python)]
    if not admitted:
        raise ProvisionError(
            f"requires-python {one_line(requires) or '-'} admits no Python of this machine "
            f"(there is {have}): {IN_THE_JOB}"
        )
    chosen, missing = (_own(admitted) or admitted)[0], ""
    for versions, where in wishes:
        every = ", ".join(dict.fromkeys(versions))
        minors = {_minor(version) for version in versions}
        if same := [python for python in admitted if _minor(python.version) in minors]:
            exact = [python for python in same if python.version in versions]
            chosen = (_own(exact) or _own(same) or exact or same)[0]
            if not missing and "," in every:
                return chosen, f"{where} names Python {every}: tested with {chosen.version} alone"
            break
        missing = missing or f"{where} names Python {every}"
    if missing:
        missing += f", which is not on this machine: not tested with it, but with {chosen.version}"
    return chosen, missing


def _own(pythons: Sequence[Interpreter]) -> list[Interpreter]:
    return [python for python in pythons if _minor(python.version) == sys.version_info[:2]]


def _admits(requires: str, python: Interpreter) -> bool:
    try:
        return SpecifierSet(requires).contains(python.version, prereleases=True)
    except ValueError:
        return True


def _minor(version: str) -> tuple[int, int]:
    major, minor = version.split(".")[:2]
    return int(major), int(re.match(r"\d+", minor)[0])  # type: ignore[index]


def _version(python: Interpreter) -> Version:
    return Version(python.version.rstrip("+"))
