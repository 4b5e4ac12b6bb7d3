"""`pytest --heal`: after a red session heal-bot runs as its own process and the diff is shown.

This module is imported by every pytest of an environment that has heal-bot: it imports only the
standard library and pytest, and without `--heal` it registers two options and a marker.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Generator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

_SECONDS = 3600
_ELSEWHERE = ("bundle: ", "next: ")
_ABSENT = (
    "heal-bot itself is not installed: `pip install '.[uv]'` in a clone of its repository, into "
    "this environment or one of its own whose heal-bot is on PATH"
)


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options of the plugin."""
    group = parser.getgroup("heal-bot")
    group.addoption(
        "--heal", action="store_true", help="repair what failed, and print the verified diff"
    )
    group.addoption(
        "--heal-apply", action="store_true", help="like --heal, and write the diff into the tree"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker, and with `--heal` the healer in the main process."""
    config.addinivalue_line(
        "markers", "heal(target): a hint for heal-bot; the function to suspect, as 'pkg.mod:name'"
    )
    if not (config.getoption("heal") or config.getoption("heal_apply")):
        return
    config.pluginmanager.register(Hints(), "heal-bot-hints")
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Healer(config), "heal-bot-healer")


class Hints:
    """Writes the hint of a test into its report, which a worker of xdist sends to the main one."""

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item) -> Generator[None, Any, None]:
        """Add the target of the mark `heal` to what is reported."""
        done = yield
        mark = item.get_closest_marker("heal")
        target = mark.kwargs.get("target") if mark else None
        if isinstance(target, str):
            done.get_result().heal_target = target


class Healer:
    """Keeps the hints of failing tests, and heals when the session is over."""

    def __init__(self, config: pytest.Config) -> None:
        self._apply = bool(config.getoption("heal_apply"))
        self._root = Path(config.rootpath)
        self._folder = Path(tempfile.mkdtemp(prefix="pytest-heal-"))
        self._failed = False
        self._targets: set[str] = set()
        self._report = self._folder / "junit.xml"
        given = config.getoption("xmlpath", None)
        if given:
            self._report = Path(given).absolute()
        else:
            config.option.xmlpath = str(self._report)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note that something failed, and the hint of the test."""
        if report.failed:
            self._failed = True
            if target := getattr(report, "heal_target", ""):
                self._targets.add(target)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """A file that cannot be imported is a failure too."""
        self._failed = self._failed or report.failed

    @pytest.hookimpl(trylast=True)
    def pytest_unconfigure(self, config: pytest.Config) -> None:
        """The session is over and its report is written: heal."""
        try:
            if self._failed and self._report.is_file():
                for line in self._healed():
                    print(line)  # noqa: T201 - the terminal reporter is gone by now
        finally:
            shutil.rmtree(self._folder, ignore_errors=True)

    def _healed(self) -> list[str]:
        """Run heal-bot on the report; the lines to show."""
        bundle = self._folder / "bundle"
        program = _heal_bot()
        if not program:
            return ["", "=== heal-bot", _ABSENT]
        argv = [*program, "heal", "--repo", str(self._root), "--junit", str(self._report)]
        argv += ["--python", sys.prefix, "--out", str(bundle), "--quiet"]
        for target in sorted(self._targets):
            argv += ["--target", _address(self._root, target)]
        done = _run(argv)
        # The bundle ends with this session: what could be done with it is done here.
        said = (done.stdout + done.stderr).strip().splitlines()
        lines = ["", "=== heal-bot", *(line for line in said if not line.startswith(_ELSEWHERE))]
        outcome = bundle / "outcome.json"
        patch = json.loads(outcome.read_text())["patch"] if outcome.is_file() else None
        if patch is None:
            return lines
        lines += ["", *str(patch["diff"]).splitlines()]
        if self._apply:
            applied = _run([*program, "apply", "--bundle", str(bundle), "--repo", str(self._root)])
            lines += ["", *(applied.stdout + applied.stderr).strip().splitlines()]
        else:
            lines += ["", "next: pytest --heal-apply writes it into the tree"]
        return lines


def _heal_bot() -> list[str]:
    """heal-bot's own installation where there is one on PATH, else the one beside this plugin.

    The plugin may be here without what heal-bot needs (`pip install --no-deps`): nothing then.
    """
    beside = Path(sys.executable).parent
    others = [part for part in os.environ.get("PATH", "").split(os.pathsep) if Path(part) != beside]
    if found := shutil.which("heal-bot", path=os.pathsep.join(others)):
        return [found]
    return [sys.executable, "-I", "-m", "heal_bot"] if find_spec("click") else []


def _run(argv: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        argv,
        capture_output=True,
        text=True,
        timeout=_SECONDS,
        check=False,
        stdin=subprocess.DEVNULL,
    )


def _address(root: Path, target: str) -> str:
    """`pkg.mod:name` as `pkg/mod.py::name`, below `src` when it lies there."""
    module, _, name = target.partition(":")
    path = module.replace(".", "/")
    for candidate in (f"{path}.py", f"src/{path}.py", f"{path}/__init__.py"):
        if (root / candidate).is_file():
            return f"{candidate}::{name}"
    return f"{path}.py::{name}"
