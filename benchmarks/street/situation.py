"""A red run that is told as a small project of our own: its history, the job, the right action."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import yaml
from pydantic import TypeAdapter

from benchmarks.street import plain
from benchmarks.street.recipes import FOLDER, Package, Split, split
from heal_bot.source.workflow_files import WORKFLOW
from tests.github_server.repository import GitRepository

Action = Literal["repair", "explain", "silent"]
Files = Mapping[str, str | None]
_FIRST = datetime.datetime(2026, 10, 5, 9, 30, tzinfo=datetime.UTC)


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit of a history: the files it writes, and with None those it deletes."""

    message: str
    files: Files


@dataclass(frozen=True, slots=True)
class Situation:
    """A project whose CI is red at its last commit, and what a tool ought to do about it.

    A good explanation has one of the words of `says` in it, whatever its case. `install` pins what
    the job had over what the project declares; `arguments`, `variables` and `python` are of the
    job's `python -m pytest`. `reports` are written by hand where the job cannot be run here, else
    it is run. `hidden` holds tests that tell a right patch, `right` the files as they ought to be.
    `package` is a dependency that broke the tests: where `bumped` by the last commit, else by a
    version that came out between the `dates` of the commits.
    """

    name: str
    kind: str
    action: Action
    commits: tuple[Commit, ...]
    says: tuple[str, ...] = ()
    install: tuple[str, ...] = ()
    arguments: tuple[str, ...] = ()
    variables: Mapping[str, str] = field(default_factory=dict)
    python: str = "3.11"
    reports: Mapping[str, str] = field(default_factory=dict)
    inputs: Mapping[str, str] = field(default_factory=dict)
    hidden: Mapping[str, str] = field(default_factory=dict)
    right: Mapping[str, str] = field(default_factory=dict)
    package: Package | None = None
    bumped: bool = False
    dates: tuple[str, ...] = ()

    @property
    def split(self) -> Split:
        """The half of the situation; what others wrote was looked at once it had been measured."""
        return "tune" if self.name.startswith("written/") else split(f"situations/{self.name}")

    def files(self) -> dict[str, str]:
        """The files of the last commit."""
        found: dict[str, str] = {}
        for commit in self.commits:
            for path, text in commit.files.items():
                if text is None:
                    del found[path]
                else:
                    found[path] = text
        return found

    def find_job(self) -> str:
        """The job of its workflows that has heal-bot as a step; "test" where none has."""
        for path, text in self.files().items():
            jobs = yaml.safe_load(text).get("jobs", {}) if WORKFLOW.match(path) else {}
            for name, one in jobs.items():
                if any("heal-bot" in str(step.get("uses")) for step in one.get("steps", ())):
                    return str(name)
        return "test"


def load(name: Literal["own", "written"]) -> tuple[Situation, ...]:
    """Small projects: our own, by what makes them red, or those of writers without the rules."""
    lines = (FOLDER / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return tuple(map(TypeAdapter(Situation).validate_json, lines))


def grow(git: GitRepository, situation: Situation) -> tuple[str, str]:
    """The last two commits of the history, a day apart each where undated; main is at the last."""
    before = sha = ""
    tree: str | None = None
    for day, commit in enumerate(situation.commits):
        when = (_FIRST + datetime.timedelta(days=day)).isoformat()
        when = f"{situation.dates[day]}T09:30:00+00:00" if situation.dates else when
        ada = ("Ada", "ada@example.invalid", when)
        changes = [
            ("100644", path, None if text is None else git.save_blob(text.encode()))
            for path, text in commit.files.items()
        ]
        tree = git.save_tree(tree, changes)
        before = sha
        sha = git.save_commit(commit.message, tree, [sha] if sha else [], ada, ada)
    git.set_ref("refs/heads/main", sha)
    return before, sha


def environment(situation: Situation, workspace: Path, venv: Path, data: Path) -> None:
    """What the job had installed: what the project declares, then the pins."""
    plain.make(workspace, venv, situation.python, data)
    if situation.install:
        plain.install(workspace, venv, data, *situation.install)


def report(situation: Situation, workspace: Path, venv: Path, data: Path) -> None:
    """Leave the reports of the job in its workspace: those by hand, else the run's."""
    for name, text in situation.reports.items():
        path = workspace / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    if not situation.reports:
        plain.report(workspace, venv, data, workspace / "junit.xml", job=job(situation))


def job(situation: Situation) -> plain.Job:
    """What the job gives its tests."""
    return plain.Job(arguments=situation.arguments, environment=situation.variables)
