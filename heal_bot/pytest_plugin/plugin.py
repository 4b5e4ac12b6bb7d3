"""`pytest --heal`: after a red session heal-bot runs as its own process, and shows what it does.

This module is imported by every pytest of an environment that has heal-bot: it imports only the
standard library and pytest, and without `--heal` it registers two options and a marker.
"""

from __future__ import annotations

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
_BUNDLE = "heal-bot-bundle"
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
                self._heal()
        finally:
            shutil.rmtree(self._folder, ignore_errors=True)

    def _heal(self) -> None:
        """Run heal-bot on the report, in sight of whoever ran pytest; its bundle stays."""
        # The terminal reporter is gone by now, and its output still in our buffers.
        print("\n=== heal-bot", flush=True)  # noqa: T201
        if not (program := _heal_bot()):
            print(_ABSENT, flush=True)  # noqa: T201
            return
        bundle = os.path.relpath(self._root / _BUNDLE)
        argv = [*program, "heal", "--repo", str(self._root), "--junit", str(self._report)]
        argv += ["--python", sys.prefix, "--out", bundle]
        for target in sorted(self._targets):
            argv += ["--target", _address(self._root, target)]
        if _run(argv) == 0 and self._apply:
            _run([*program, "apply", "--bundle", bundle, "--repo", str(self._root)])


def _heal_bot() -> list[str]:
    """heal-bot's own installation where there is one on PATH, else the one beside this plugin.

    The plugin may be here without what heal-bot needs (`pip install --no-deps`): nothing then.
    """
    beside = Path(sys.executable).parent
    others = [part for part in os.environ.get("PATH", "").split(os.pathsep) if Path(part) != beside]
    if found := shutil.which("heal-bot", path=os.pathsep.join(others)):
        return [found]
    return [sys.executable, "-I", "-m", "heal_bot"] if find_spec("click") else []


def _run(argv: list[str]) -> int:
    """Run a program that writes to our own streams; its exit code."""
    return subprocess.run(argv, timeout=_SECONDS, check=False, stdin=subprocess.DEVNULL).returncode


def _address(root: Path, target: str) -> str:
    """`pkg.mod:name` as `pkg/mod.py::name`, below `src` when it lies there."""
    module, _, name = target.partition(":")
    path = module.replace(".", "/")
    for candidate in (f"{path}.py", f"src/{path}.py", f"{path}/__init__.py"):
        if (root / candidate).is_file():
            return f"{candidate}::{name}"
    return f"{path}.py::{name}"
