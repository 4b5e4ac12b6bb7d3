"""A project with a bug, the report of its red run, and a suite that tries to get out."""

from __future__ import annotations

from tests.github_server import records

PROJECT = """[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"
[project]
name = "shop"
version = "1.0"
requires-python = ">=3.9"
dependencies = ["humanize"]
[dependency-groups]
dev = ["pytest-mock"]
"""
PRICING = (
    records.BROKEN.replace('"""Prices."""\n', '"""Prices."""\n\nimport humanize\n')
    + """

def shown(price):
    return humanize.intcomma(price)
"""
)
TEST = """from importlib.metadata import version

import pytest

from shop.pricing import shown, total


@pytest.mark.parametrize(("prices", "expected"), [([], 0), ([5], 5), ([4, 2], 6), ([1, 2, 4], 7)])
def test_total(prices, expected):
    assert total(prices) == expected


def test_shown(mocker):
    assert shown(1000) == "1,000"


def test_the_versions_are_those_of_the_failing_run():
    assert version("shop") == "1.0"
    assert version("humanize") == "4.12.3"
"""
FILES = {
    "src/shop/__init__.py": "",
    "src/shop/pricing.py": PRICING,
    "tests/test_pricing.py": TEST,
    "pyproject.toml": PROJECT,
    ".gitignore": ".venv/\n",
}
_CASE = """<testcase classname="tests.test_pricing" name="test_total[prices{0}-{1}]">
<failure message="assert {2} == {1}">tests/test_pricing.py:10: AssertionError</failure></testcase>
"""
REPORT = f"""<testsuites><testsuite name="pytest" tests="6" failures="3">
<testcase classname="tests.test_pricing" name="test_total[prices0-0]" time="0.01"/>
{_CASE.format(1, 5, 0)}{_CASE.format(2, 6, 2)}{_CASE.format(3, 7, 6)}
<testcase classname="tests.test_pricing" name="test_shown" time="0.01"/>
</testsuite></testsuites>
"""
FREEZE = """humanize==4.12.3
iniconfig==2.0.0
packaging==24.2
pluggy==1.5.0
pytest==8.3.5
pytest-mock==3.14.0
shop @ file:///home/runner/work/shop/shop
"""
ARTIFACT = {"junit.xml": REPORT, "freeze.txt": FREEZE}
# Each passes only where it succeeds, so that the tests that fail are the escapes that did not.
HOSTILE = """import os, pathlib, socket

def test_engine_socket():
    socket.socket(socket.AF_UNIX).connect("/var/run/docker.sock")

def test_file_commands():
    for path in pathlib.Path("/github/file_commands").iterdir():
        path.write_text("status=healed\\n")

def test_event():
    pathlib.Path("/github/workflow/event.json").read_text()

def test_workspace():
    assert os.listdir("/github/workspace")

def test_home():
    pathlib.Path("/github/home/.bashrc").write_text("x")

def test_tokens_of_our_own_environment():
    assert any("TOKEN" in name or name.startswith(("INPUT_", "ACTIONS_")) for name in os.environ)

def test_tokens_of_the_first_process():
    assert b"token" in pathlib.Path("/proc/1/environ").read_bytes()

def test_tokens_of_other_processes():
    seen = [p for p in os.listdir("/proc") if p.isdigit() and p != str(os.getpid())]
    assert any(pathlib.Path("/proc", p, "environ").read_bytes() for p in seen)

def test_network():
    socket.create_connection(("127.0.0.1", int(os.environ.get("PORT", "80"))), 2)

def test_application():
    pathlib.Path("/opt/heal-bot/planted").write_text("x")
"""
