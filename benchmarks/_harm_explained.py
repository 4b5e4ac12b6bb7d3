"""Red for other reasons: what is told with its cure, what is left alone, and what is a bug yet."""

from __future__ import annotations

from xml.sax.saxutils import quoteattr

from benchmarks._harm import Case
from benchmarks._harm_shipped import FILES, HIDDEN
from heal_bot.core.outcome import OutcomeRecord

_NEVER = ("flaky", "Traceback (most recent")


def _untouched(outcome: OutcomeRecord) -> str:
    """Nothing where nothing was searched."""
    return "searched all the same" if outcome.searches or outcome.attempts else ""


def _explained(name: str, files: dict[str, str], *says: str, report: str | None = None) -> Case:
    return Case(f"explained: {name}", files, "explained", says=says, never=_NEVER, report=report,
                fault=_untouched)  # fmt: skip


def _silent(name: str, files: dict[str, str], *says: str, report: str) -> Case:
    return Case(f"silent: {name}", files, "nothing_to_do", says=says, report=report)


def _repaired(name: str, files: dict[str, str]) -> Case:
    """A bug of bands.py beside something that looks like another reason."""
    return Case(f"a bug all the same: {name}", {**FILES, **files}, "healed", hidden=HIDDEN)


def _report(*cases: tuple[str, str, str, str]) -> str:
    """A JUnit file: class name, name, message and text of what failed, beside one that passed."""
    red = "".join(
        f'<testcase classname="{where}" name="{name}"><failure message={quoteattr(said)}>'
        f"{text}</failure></testcase>"
        for where, name, said, text in cases
    )
    green = '<testcase classname="test_green" name="test_green"/>'
    return f'<testsuites><testsuite name="pytest">{red}{green}</testsuite></testsuites>'


_SHOP = '''"""Prices of a shop."""

import json
import os
import socket
import subprocess


def token():
    """The key of the shop."""
    return os.environ["SHOP_TOKEN"]


def stock():
    """What the warehouse says."""
    with socket.create_connection(("127.0.0.1", 6379), timeout=1) as line:
        return line.recv(10)


def rendered(text):
    """The text as the program makes it."""
    return subprocess.run(["shop-render"], input=text, capture_output=True, text=True).stdout


def discount(price):
    """The price after discount."""
    raise NotImplementedError


def page(name):
    """The page of a product."""
    return json.dumps({"name": name, "title": name.title()}, indent=1)
'''


def _shop(test: str, **more: str) -> dict[str, str]:
    return {"shop.py": _SHOP, "test_shop.py": f"import shop\n\n\n{test}", **more}


_PAGE = """from pathlib import Path

from shop import page

GOLDEN = Path(__file__).parent / "golden"


def test_page(request):
    file = GOLDEN / "page.json"
    if request.config.getoption("--update-golden"):
        file.write_text(page("tea pot"))
    assert page("tea pot") == file.read_text()
"""
_OPTION = (
    'def pytest_addoption(parser):\n    parser.addoption("--update-golden", action="store_true")\n'
)
_ATTRIBUTE = "import iniconfig\n\n\ndef read(path):\n    return iniconfig.parse_all(path)\n"
_WINDOWS = "self = &lt;x&gt;\n\ntests\\test_bands.py:5: AssertionError"
_GREEN = {"bands.py": 'def clamp(value, low, high):\n    """Within bounds."""\n'
          "    return max(low, min(value, high))\n",
          "test_bands.py": "from bands import clamp\n\n\ndef test_low():\n"
          "    assert clamp(-1, 0, 10) == 0\n\n\ndef test_green():\n    assert True\n"}  # fmt: skip
_MATRIX = """jobs:
  test:
    continue-on-error: ${{ matrix.experimental }}
    strategy:
      matrix:
        python-version: ["3.12"]
        include: [{python-version: "3.15-dev", experimental: true}]
"""

CASES = (
    _explained("a variable", _shop("def test_token():\n    assert shop.token()\n"), "SHOP_TOKEN"),
    _explained("a service", _shop("def test_stock():\n    assert shop.stock()\n"), "a service"),
    _explained("a program", _shop("def test_text():\n    assert shop.rendered('a') == 'a'\n"),
               "shop-render"),
    _explained("not written yet", _shop("def test_cut():\n    assert shop.discount(10) == 9\n"),
               "shop.py::discount", "not written yet"),
    _explained("a golden file", {"shop.py": _SHOP, "test_shop.py": _PAGE, "conftest.py": _OPTION,
               "golden/page.json": '{"name": "tea pot"}'}, "pytest --update-golden"),
    _explained("a missing package", _shop("import leaflet\n\n\ndef test_a():\n    leaflet.a()\n"),
               "leaflet"),
    _explained("another version of a package", {"ini.py": _ATTRIBUTE, "test_ini.py":
               "from ini import read\n\n\ndef test_read():\n    assert read('a') == {}\n"},
               "iniconfig", "another version"),
    _explained("a warning of the standard library", {
        "pytest.ini": "[pytest]\nfilterwarnings = error\n",
        "test_shop.py": "import locale\n\n\ndef test_locale():\n"
        "    assert locale.getdefaultlocale()\n"}, "DeprecationWarning", "filterwarnings"),
    _explained("a doctest that is written otherwise", {"pytest.ini": "[pytest]\naddopts ="
               " --doctest-modules\n", "names.py": 'def names():\n    """Names.\n\n'
               "    >>> names()\n    {\"b\": 1}\n    \"\"\"\n    return {'b': 1}\n"}, "docstring"),
    _explained("Windows alone", _GREEN, "windows", report=_report(
               ("test_bands", "test_low", "assert 1 == 0", _WINDOWS))),
    _explained("root", _GREEN, "as root", report=_report(
               ("test_bands", "test_low", "Failed: DID NOT RAISE <class 'PermissionError'>", ""))),
    _silent("linters alone", FILES, "ruff (1 finding)", report=_report(
            ("bands", "ruff", "E501", ""), ("bands", "mypy", "1: error: x", ""))),
    _silent("no test fails, the coverage does", FILES, "names no failure", report=_report()),
    _silent("a leg before its release", {**FILES, ".github/workflows/ci.yml": _MATRIX},
            "3.15", report=_report(("test_bands", "test_below", "assert 1 == 2",
            "/opt/hostedtoolcache/Python/3.15.0-alpha.2/x64/lib/python3.15/enum.py:1: E"))),
    _repaired("beside a golden file", {"golden/a.txt": "3", "test_golden.py":
              "from pathlib import Path\n\nfrom bands import clamp\n\n\ndef test_golden():\n"
              "    golden = Path(__file__).parent / 'golden' / 'a.txt'\n"
              "    assert str(clamp(3, 0, 10)) == golden.read_text()\n"}),
    _repaired("beside a variable that the test sets", {"test_env.py":
              "import os\n\nfrom bands import clamp\n\n\ndef test_env(monkeypatch):\n"
              "    monkeypatch.setenv('LOW', '0')\n"
              "    assert clamp(3, int(os.environ['LOW']), 10) == 3\n"}),
    _repaired("beside a missing service", {"shop.py": _SHOP, "test_shop.py":
              "import shop\n\n\ndef test_stock():\n    assert shop.stock()\n"}),
)  # fmt: skip
