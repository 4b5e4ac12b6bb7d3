"""Suites that bend the world: clocks, mocks, streams, folders, locales, terminals, `__main__`."""

from __future__ import annotations

from benchmarks._harm import Case
from benchmarks._harm_shipped import FILES, HIDDEN
from heal_bot.core.outcome import OutcomeRecord

_CLOCKS = ("time", "time_ns", "monotonic", "monotonic_ns", "perf_counter", "perf_counter_ns")
_FROZEN = f"""import time
from unittest import mock

import pytest


@pytest.fixture(autouse=True, scope="session")
def frozen():
    held = [mock.patch.object(time, name, return_value=7) for name in {_CLOCKS}]
    for patch in held:
        patch.start()
    yield
    mock.patch.stopall()
"""
_FREEZEGUN = """import freezegun
import pytest


@pytest.fixture(autouse=True)
def frozen():
    with freezegun.freeze_time("1984-04-04"):
        yield
"""
_MOCKED = """from unittest import mock

import pytest

NAMES = ("os.write", "os.getpid", "os.getcwd", "builtins.open", "subprocess.run", "random.Random",
         "random.seed", "json.dumps", "signal.setitimer")


@pytest.fixture(autouse=True, scope="session")
def mocked():
    for name in NAMES:
        mock.patch(name).start()
    yield
    mock.patch.stopall()
"""
_STREAMS = """import io
import os
import sys
import tempfile

import pytest

os.chdir(tempfile.mkdtemp())


@pytest.fixture(autouse=True, scope="session")
def elsewhere():
    kept = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = io.StringIO(), None
    yield
    sys.stdout, sys.stderr = kept
"""
_LOOKS = """import os
import stat
import sys


def test_pytest_is_the_main_module():
    main = sys.modules["__main__"]
    assert main.__file__.endswith("__main__.py") or os.path.basename(main.__file__) == "pytest"
    assert os.path.basename(sys.argv[0]) in ("__main__.py", "pytest")


def test_hashes_are_random():
    assert sys.flags.hash_randomization == 1


def test_a_new_file_is_for_all_to_read(tmp_path):
    made = tmp_path / "made"
    made.write_text("x")
    assert stat.S_IMODE(made.stat().st_mode) == 0o644
"""
_TERMINAL = """import os
import pty


def test_a_child_has_a_terminal():
    pid, master = pty.fork()
    if pid == 0:
        os.write(1, b"yes" if os.isatty(0) else b"no")
        os._exit(0)
    assert os.read(master, 10) == b"yes"
    os.waitpid(pid, 0)
"""
_PRICES = '''"""Prices as they are written in Germany."""

import locale


def price(cents):
    """Cents as a price."""
    locale.setlocale(locale.LC_ALL, "de_DE.UTF-8")
    return locale.currency(cents / 100, grouping=True)
'''
_PRICE_TESTS = """from prices import price


def test_small():
    assert price(250) == "2,50 €"


def test_large():
    assert price(123456) == "1.234,56 €"
"""
_TIMING = """import time

from bands import clamp


def taken(count):
    began = time.perf_counter()
    for value in range(count):
        clamp(-1 - value, 0, 10)
    return time.perf_counter() - began


def test_growth_is_linear():
    short, long = (min(taken(n) for _ in range(5)) for n in (20_000, 80_000))
    assert long < 6 * short
"""


def _is_environment(outcome: OutcomeRecord) -> str:
    if {failure.status for failure in outcome.failures} != {"explained"}:
        return f"other causes: {[failure.status for failure in outcome.failures]}"
    return "searched all the same" if outcome.searches or outcome.attempts else ""


def _bent(name: str, files: dict[str, str], *, never: tuple[str, ...] = ()) -> Case:
    """A project with the bug of `_harm_shipped` in a world that is bent."""
    never = ("untrusted", "flaky", "--max-minutes", *never)
    return Case(f"world-{name}", {**FILES, **files}, "healed", never=never, hidden=HIDDEN)


CASES = (
    _bent("clock-of-its-own", {"conftest.py": _FROZEN}),
    _bent("freezegun", {"conftest.py": _FREEZEGUN, "requirements.txt": "freezegun\n"}),
    _bent("mocks", {"conftest.py": _MOCKED}),
    _bent("streams-and-folder", {"conftest.py": _STREAMS}),
    _bent("main-module", {"test_looks.py": _LOOKS}),
    _bent("terminal", {"test_terminal.py": _TERMINAL}),
    # Other programs may keep the machine busy: it may be called flaky, and must not refuse.
    Case("world-timing", {**FILES, "test_timing.py": _TIMING}, "healed", hidden=HIDDEN),
    Case(
        "world-locale",
        {"prices.py": _PRICES, "test_prices.py": _PRICE_TESTS},
        "explained",
        says=("locale",),
        never=("flaky", "heal-bot doctor"),
        fault=_is_environment,
    ),
)
