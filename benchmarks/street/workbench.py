"""A project's work tree and plain environment, in which what is mined is tried."""

from __future__ import annotations

from pathlib import Path

from benchmarks._cases import read_cases
from benchmarks.street import plain
from benchmarks.street.clones import Clone, show
from benchmarks.street.plain import PlainError, Ran

_SUITE_SECONDS = 60
_DECLARE: list[str] = read_cases("plain")["declares"]
_PYTHONS = ("3.11", "3.9")


class DroppedError(Exception):
    """Why a commit is no case, in words that are counted."""


class Bench:
    """A project's work tree and its plain environment."""

    def __init__(self, clone: Clone, data: Path, place: Path, python: str) -> None:
        self.clone, self.data, self.python = clone, data, python
        self.tree, self.venv = place / "tree", place / f"venv-{python}"
        self.place, self.declared = place, ""

    @property
    def name(self) -> str:
        """The project's name in the ids of recipes."""
        return self.clone.repository.rpartition("/")[2].lower()

    def at(self, sha: str) -> None:
        """See to it that the environment is what the commit declares."""
        if self.declared != self.clone.git("ls-tree", sha, "--", *_DECLARE):
            self.open(sha)

    def open(self, sha: str) -> None:
        """The project at a commit, installed with what its tests need."""
        if not self.tree.exists():
            self.clone.check_out(self.tree)
        show(self.tree, sha)
        self.declared = self.clone.git("ls-tree", sha, "--", *_DECLARE)
        plain.make(self.tree, self.venv, self.python, self.data)
        plain.complete(self.tree, self.venv, self.data)

    def run(self, base: str, fix: str, tests: tuple[str, ...], only: tuple[str, ...]) -> Ran:
        """One run at `base` with the tests of `fix`."""
        show(self.tree, base, fix, tests)
        return plain.run(self.tree, self.venv, self.data, only, _SUITE_SECONDS)


def green(clone: Clone, data: Path, place: Path, sha: str) -> Bench:
    """The environment for a commit, with the first Python whose whole suite is green."""
    said = ""
    for python in _PYTHONS:
        bench = Bench(clone, data, place, python)
        try:
            bench.open(sha)
            ran = bench.run(sha, sha, (), ())
        except PlainError as error:
            said = str(error)
            if "more than" in said:
                break
            continue
        if not ran.red:
            return bench
        said = f"its suite is red ({len(ran.red)} of {len(ran.red) + ran.passed})"
    raise PlainError(said)


def steady(runs: list[Ran]) -> Ran:
    """The first of several runs that are red alike; DroppedError where they are no case."""
    red = runs[0].red
    if any(ran.red != red for ran in runs):
        raise DroppedError("its runs differ")
    if any("::" not in test or test.startswith("::") for test in red):
        raise DroppedError("its tests do not import without it")
    if len(red) > 60:
        raise DroppedError("more than 60 tests are red")
    return runs[0]
