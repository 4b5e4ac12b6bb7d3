"""Suites run by every test runner whose reports are read, each with pytest's own record."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from heal_bot.core.errors import HealBotError
from heal_bot.core.process import Completed
from heal_bot.core.process import run as start
from tests.junit.suites import BELOW, BROKEN, CASES, CRASH, DJANGO, FLAKY, ZOO

RECORDER = """
import json, os
seen = {"collected": [], "failed": [], "errors": []}

def pytest_collection_modifyitems(items):
    seen["collected"] = [item.nodeid for item in items]

def pytest_collectreport(report):
    if report.failed:
        seen["errors"].append(report.nodeid.partition("::")[0])

def pytest_runtest_logreport(report):
    if report.failed and report.nodeid not in seen["failed"]:
        seen["failed"].append(report.nodeid)

def pytest_sessionfinish(session):
    if not hasattr(session.config, "workerinput"):
        with open(os.environ["RECORD"], "w") as file:
            json.dump(seen, file)
"""


@dataclass(frozen=True, slots=True)
class Dialect:
    """A runner over some files: what is started in `cwd`, and the glob of what it writes.

    Without `commands` pytest itself writes report.xml, with `options`; else pytest runs the same
    files only to tell what fails. `unnamed` are failures that the runner does not report as such,
    `more` the options that a later run of single tests needs, `path` goes before sys.path,
    `beside` names tests of the checkout that this run leaves out.
    """

    name: str
    files: Mapping[str, str]
    options: tuple[str, ...] = ()
    commands: tuple[tuple[str, ...], ...] = ()
    report: str = "report.xml"
    cwd: str = "."
    unnamed: frozenset[str] = frozenset()
    more: tuple[str, ...] = ()
    path: str = ""
    beside: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Recorded:
    """What pytest itself said: what it collected, and which tests and files failed."""

    collected: tuple[str, ...]
    failed: frozenset[str]


@dataclass(frozen=True, slots=True)
class Suite:
    """A dialect's files in a folder of their own."""

    dialect: Dialect
    root: Path

    @classmethod
    def made(cls, dialect: Dialect, folder: Path) -> Suite:
        """Write the files below a new folder."""
        root = folder / "repo"
        for name, text in dialect.files.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text, encoding="utf-8")
        (folder / "recorder.py").write_text(RECORDER)
        return cls(dialect, root)

    def paths(self) -> tuple[str, ...]:
        """The files as a commit would hold them."""
        return tuple(sorted(self.dialect.files))

    def read(self, path: str) -> bytes:
        """A file's bytes; KeyError when there is none."""
        return self.dialect.files[path].encode()

    def report(self) -> Recorded:
        """Run the suite so that the reports are written; what failed, and what is collected."""
        dialect = self.dialect
        if not dialect.commands:
            seen = self.pytest(*dialect.options, f"--junitxml={self.root / dialect.report}")
            whole = self.pytest(*dialect.more, "--collect-only").collected
            return Recorded((*whole, *dialect.beside), seen.failed)
        seen = self.pytest(*dialect.more)
        for command in dialect.commands:
            self._start(command)
        return Recorded(seen.collected, seen.failed - dialect.unnamed)

    def again(self, tests: Iterable[str]) -> frozenset[str]:
        """What fails when these tests alone are run."""
        inside = [self._inside(test) for test in tests]
        return self.pytest(*self.dialect.more, *inside).failed

    def pytest(self, *options: str) -> Recorded:
        """Run pytest and tell what it did."""
        record = self.root.parent / "record.json"
        record.unlink(missing_ok=True)
        command = ("-m", "pytest", "-q", "-p", "recorder", "-p", "no:cacheprovider", *options)
        done = self._start(command)
        if not record.exists():
            raise HealBotError(f"{self.dialect.name}: {done.complaint()}")
        seen = json.loads(record.read_text())
        prefix = "" if self.dialect.cwd == "." else f"{self.dialect.cwd}/"
        return Recorded(
            tuple(prefix + test for test in seen["collected"]),
            frozenset(prefix + test for test in (*seen["failed"], *seen["errors"])),
        )

    def _inside(self, test: str) -> str:
        return test if self.dialect.cwd == "." else test.removeprefix(f"{self.dialect.cwd}/")

    def _start(self, command: tuple[str, ...]) -> Completed:
        tools = str(self.root.parent)
        path = [part for part in (self.dialect.path, tools, str(self.root)) if part]
        env = {
            "PATH": os.environ["PATH"],
            "HOME": tools,
            "PYTHONPATH": ":".join(path),
            "PYTHONDONTWRITEBYTECODE": "1",
            "LC_ALL": "C.UTF-8",
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
            "RECORD": str(self.root.parent / "record.json"),
            **self.dialect.env,
        }
        where = self.root / self.dialect.cwd
        return start([sys.executable, *command], env=env, cwd=where, seconds=300)


def dialects() -> tuple[Dialect, ...]:
    """Every dialect whose runner the extra `dialects` installs."""
    return (*_pytest_dialects(), *_other_dialects())


def _pytest_dialects() -> Iterator[Dialect]:
    docs = ("--doctest-modules", "--doctest-glob=*.txt", "--ignore=tests/base.py")
    for family in ("xunit1", "xunit2"):
        told = ("-o", f"junit_family={family}")
        yield Dialect(f"pytest-{family}", ZOO, (*docs, *told), more=docs)
        below = ("--junit-prefix=linux.py311", *told)
        other = ("other/tests/test_z.py::test_y",)
        yield Dialect(f"pytest-below-{family}", BELOW, below, cwd="sub", beside=other)
    workers = ("-p", "xdist", "-n2")
    yield Dialect("pytest-xdist", ZOO, (*docs, *workers), more=docs)
    restart = (*workers, "--max-worker-restart=2")
    yield Dialect("pytest-crash", CRASH, restart, more=("-p", "xdist", "-n1"))
    reruns = ("-p", "pytest_rerunfailures", "--reruns", "2")
    yield Dialect("pytest-rerunfailures", FLAKY, reruns)


def _other_dialects() -> Iterator[Dialect]:
    broken = {**CASES, **BROKEN}
    keep_on = ("--continue-on-collection-errors",)
    discover = ("-m", "xmlrunner", "discover", "-o", "xml-reports")
    yield Dialect("xmlrunner", broken, (), (discover,), "xml-reports/*.xml", more=keep_on)
    nose2 = ("-m", "nose2", "--plugin", "nose2.plugins.junitxml", "--junit-xml")
    unexpected = frozenset({"tests/test_calc.py::TestCalc::test_unexpected"})
    yield Dialect(
        "nose2", broken, (), (nose2,), "nose2-junit.xml", unnamed=unexpected, more=keep_on
    )
    tester = {**CASES, ".stestr.conf": "[DEFAULT]\ntest_path=.\ntop_dir=.\n"}
    stestr = (("-m", "stestr.cli", "run"), ("-c", _LAST), ("-c", _CONVERT, *_CONVERT_OPTIONS))
    yield Dialect("stestr", tester, (), stestr, "stestr.xml")
    django = {"DJANGO_SETTINGS_MODULE": "site_settings"}
    command = ("-m", "django", "test", "shop")
    yield Dialect("django", DJANGO, (), (command,), "out/*.xml", env=django)


_LAST = (
    "import subprocess, sys\n"
    "last = [sys.executable, '-m', 'stestr.cli', 'last', '--subunit']\n"
    "subprocess.run(last, stdout=open('last.subunit', 'wb'))\n"
)
_CONVERT = "from subunit.filter_scripts.subunit2junitxml import main; main()"
_CONVERT_OPTIONS = ("--output-to=stestr.xml", "last.subunit")
