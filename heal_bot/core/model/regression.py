"""What the history says: commits, the files they change, the commit after which tests fail."""

from __future__ import annotations

from dataclasses import dataclass

from heal_bot.core.model.package_versions import PackageChange

# Files and folders of a commit; a job that gets a copy of it may have as many besides.
MAX_FILES = 100_000


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit, its first parent ('' for a root), the first line of its message."""

    sha: str
    parent: str
    title: str


@dataclass(frozen=True, slots=True)
class ChangedFile:
    """A Python file, or one that tells users, before and after a change.

    `path` is the new one of a file that was moved.
    """

    path: str
    before: bytes
    after: bytes


@dataclass(frozen=True, slots=True)
class Regression:
    """The commit that broke `tests`: they pass on its first parent `good_sha` and fail on it.

    `confirmed` says that both were seen twice, in the sandbox; `files` are what the commit changes.
    """

    good_sha: str
    bad_sha: str
    title: str
    tests: tuple[str, ...]
    confirmed: bool = False
    files: tuple[ChangedFile, ...] = ()

    @property
    def said(self) -> str:
        """All of it in one sentence, without a full stop."""
        title = f" ({self.title})" if self.title else ""
        tests = len(self.tests)
        broke = "this test; it passes" if tests == 1 else f"these {tests} tests; they pass"
        return f"`{self.bad_sha[:7]}`{title} broke {broke} at its parent"


def doubt_reversal(said: str) -> str:
    """The doubt that stands beside what takes a change back, which `said` names."""
    return f"{said}: right unless the change was meant and its tests are out of date"


@dataclass(frozen=True, slots=True)
class History:
    """What was learned of the past: regressions, those of most tests first, and why there are none.

    `runs` counts the runs of failing tests on other commits, `commits` those in question;
    `always_red` says that they fail on each older one. `packages` are those that broke tests.
    `older` are the failing tests that were seen to fail before what broke the others.
    """

    regressions: tuple[Regression, ...] = ()
    reason: str = ""
    runs: int = 0
    commits: int = 0
    always_red: bool = False
    packages: tuple[PackageChange, ...] = ()
    older: frozenset[str] = frozenset()
