"""What a report says: requests, cases, failures, frames."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from heal_bot.core.pytest_options import find_options
from heal_bot.core.statuses import RED, RunResult
from heal_bot.core.text import short_version


class Trust(StrEnum):
    """What the one who asks, and the code under test, are allowed to touch."""

    TRUSTED = "trusted"
    KEYLESS = "keyless"
    REFUSED = "refused"


# What starts a run that somebody asks for, as against a run that was red.
ASKED = frozenset({"comment", "commit", "dispatch", "step:workflow_dispatch"})


@dataclass(frozen=True, slots=True)
class HealRequest:
    """What is to be healed: base_sha is patched, base_ref targeted, tested_sha is what CI ran.

    `job` is the id of the workflow's job that failed, where heal-bot runs in it, and `python` the
    version that setup-python left there. `good` is a commit at which the tests are said to pass,
    that of the request itself where none of it changed, and `green` when they did, in epoch
    seconds; 0 for when that commit was made. `pull_number` is the pull request whose head was red,
    `thread` the one where whoever asks waits for the answer `reply_to`. `choice` is what is picked.
    """

    repo: str
    base_sha: str
    base_ref: str = ""
    tested_sha: str = ""
    head_repo: str = ""
    trigger: str = "command"
    actor: str = ""
    trust: Trust = Trust.TRUSTED
    reports: tuple[str, ...] = ()
    run_id: int | None = None
    pull_number: int | None = None
    reply_to: int | None = None
    thread: int | None = None
    verb: str = "heal"
    choice: str = ""
    only: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()
    instruction: str = ""
    error_log: str = ""
    callback: str = ""
    paths: tuple[str, ...] = ()
    verify_command: str = ""
    test_command: str = ""
    job: str = ""
    python: str = ""
    good: str = ""
    green: float = 0.0

    @property
    def other_command(self) -> str:
        """The test command, where it is not pytest itself."""
        return self.test_command if find_options(self.test_command) is None else ""

    @property
    def answered_in(self) -> int | None:
        """The pull request where the answer is given."""
        return self.thread or self.pull_number


class Origin(StrEnum):
    """Where the code of a traceback frame lives."""

    PROJECT = "project"
    TEST = "test"
    LIBRARY = "library"


@dataclass(frozen=True, slots=True)
class Frame:
    """One traceback frame; `path` is relative to the checkout, `line` counts from 1."""

    path: str
    line: int
    function: str
    origin: Origin


# Systems whose failures cannot be confirmed in a sandbox on Linux.
ELSEWHERE = {"windows": "Windows", "macos": "macOS"}


@dataclass(frozen=True, slots=True)
class Leg:
    """One leg of a matrix: the report's name, the Python as `3.N`, the system; '' where unknown.

    system: linux | macos | windows.
    """

    name: str
    python: str = ""
    system: str = ""

    @property
    def label(self) -> str:
        """Its name with what is known of it, for sentences."""
        known = ", ".join(p for p in (self.python and f"python {self.python}", self.system) if p)
        return f"{self.name} [{known}]" if known else self.name

    def differs(self, python: str) -> str:
        """The system, or the Python, by which it differs from Linux with `python`; '' for neither.

        A leg without a Python may have run that one.
        """
        if self.system in ELSEWHERE:
            return ELSEWHERE[self.system]
        return f"Python {self.python}" if self.python not in {"", short_version(python)} else ""


@dataclass(frozen=True, slots=True)
class ReportedCase:
    """One test case as a report names it, after attempts of one leg were merged (the last decides).

    phase: call | setup | teardown | collect. One that passed had failed before. Of the parameter
    sets of one function it is number `place` of `places`; 0 where it has none.
    """

    classname: str
    name: str
    outcome: RunResult
    file: str = ""
    phase: str = "call"
    kind: str = ""
    message: str = ""
    text: str = ""
    seconds: float = 0.0
    leg: Leg = Leg("")
    attempts: int = 1
    place: int = 0
    places: int = 0

    @property
    def red(self) -> bool:
        """Whether it failed, wherever."""
        return self.outcome in RED


@dataclass(frozen=True, slots=True)
class RunHints:
    """What the report tells of the failing run: interpreter version, plugins, seconds.

    `started` is the latest moment at which it can have started, in epoch seconds; 0 if unknown.
    `system` is windows or macos where its tracebacks are of one. `doctests` are the files whose
    examples it names, `modules` the files or class names of all its cases. With pytest among the
    `plugins` no version counts that is declared for it.
    """

    python: str = ""
    plugins: tuple[str, ...] = ()
    seconds: float = 0.0
    started: float = 0.0
    system: str = ""
    doctests: tuple[str, ...] = ()
    modules: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Report:
    """All reports of a request as one: `cases` are those that did not pass, the rest is counted.

    `legs` are all that there are reports of. `stopped` counts the tests of each leg that ends with
    a failure: it may have stopped there.
    """

    cases: tuple[ReportedCase, ...]
    passed: int = 0
    flags: tuple[str, ...] = ()
    hints: RunHints = RunHints()
    skipped: tuple[str, ...] = ()
    stopped: tuple[int, ...] = ()
    legs: tuple[Leg, ...] = ()


@dataclass(frozen=True, slots=True)
class Collection:
    """Runnable node ids as pytest collects them in the checkout, and (path, message) per error."""

    tests: tuple[str, ...]
    errors: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Broken:
    """Where a file that tests import fails to parse or to be imported: `message` in one line.

    `sha` and `title` are of the commit that brought it, '' where history does not tell.
    """

    path: str
    line: int
    message: str
    sha: str = ""
    title: str = ""

    @property
    def said(self) -> str:
        """All of it in one line."""
        since = f", since {self.sha[:12]} ({self.title})" if self.sha else ""
        return f"{self.path}:{self.line}: {self.message}{since}"


@dataclass(frozen=True, slots=True)
class Failure:
    """A failing test as a runnable node id; `kind` is the exception type, `reason` our remark.

    `frames` are outermost first as a traceback prints them. `message` is the assertion or
    exception text, clipped. `legs` are those it was reported to fail in, `failed_on` their systems
    or Pythons where it passes here. `broken` is the source for which the test could not even be
    collected.
    """

    test: str
    kind: str
    message: str
    frames: tuple[Frame, ...] = ()
    reason: str = ""
    legs: tuple[Leg, ...] = ()
    broken: Broken | None = None
    failed_on: tuple[str, ...] = ()
