"""Tests that want the network, and one whose address the code spoils."""

from __future__ import annotations

from benchmarks.street.own._files import changed, legacy, project
from benchmarks.street.situation import Commit, Situation

_CLIENT = """\
from urllib.parse import urlsplit, urlunsplit
from urllib.request import urlopen


def address(base, path):
    parts = urlsplit(base)
    return urlunsplit((parts.scheme, parts.netloc, "/" + path.lstrip("/"), "", ""))


def fetch(base, path):
    with urlopen(address(base, path), timeout=5) as answer:
        return answer.read().decode()
"""

SITUATIONS = (
    Situation(
        name="own/rates-ask-the-real-bank",
        kind="network",
        action="explain",
        says=("network", "rates.bank.example", "name or service not known", "resolve", "dns"),
        commits=(
            Commit(
                "Ask the bank for rates",
                {
                    **project("rates", about="rates of exchange"),
                    "src/rates/bank.py": """\
import json
from urllib.request import urlopen

ADDRESS = "https://rates.bank.example/today.json"


def today():
    with urlopen(ADDRESS, timeout=10) as answer:
        return json.load(answer)


def convert(amount, rate):
    return round(amount * rate, 2)
""",
                    "tests/test_bank.py": """\
import pytest

from rates.bank import convert, today


def test_today():
    assert today()["USD"] > 0


@pytest.mark.parametrize(
    ("amount", "rate", "wanted"), [(10, 1.1, 11.0), (0, 2, 0), (3, 0.333, 1.0), (1, 1, 1)]
)
def test_convert(amount, rate, wanted):
    assert convert(amount, rate) == wanted
""",
                },
            ),
            Commit("Thank the bank", {"README.md": "# rates\n\nFigures are of the bank.\n"}),
        ),
    ),
    Situation(
        name="own/tides-requests-to-a-host",
        kind="network",
        action="explain",
        says=("network", "tides.example", "connection", "resolve", "dns"),
        commits=(
            Commit(
                "Fetch tides",
                {
                    **project("tides", "requests>=2.28", about="tides of harbours", python=">=3.9"),
                    "src/tides/fetch.py": """\
import requests


def tides(harbour):
    answer = requests.get(f"https://api.tides.example/v1/{harbour}", timeout=10)
    answer.raise_for_status()
    return answer.json()["tides"]


def highest(found):
    return max(found, key=lambda tide: tide["height"], default=None)
""",
                    "tests/test_fetch.py": """\
import pytest

from tides.fetch import highest, tides


@pytest.fixture(scope="module")
def bergen():
    return tides("bergen")


def test_two_high_waters(bergen):
    assert len(bergen) >= 2


def test_heights_are_numbers(bergen):
    assert all(isinstance(tide["height"], float) for tide in bergen)


@pytest.mark.parametrize(
    ("found", "wanted"),
    [([], None), ([{"height": 1}], {"height": 1}), ([{"height": 1}, {"height": 3}], {"height": 3})],
)
def test_highest(found, wanted):
    assert highest(found) == wanted
""",
                },
            ),
            Commit("Raise the version", project("tides", "requests>=2.28", version="0.5", python=">=3.9")),
        ),
    ),
    Situation(
        name="own/sockets-are-disabled-on-purpose",
        kind="network",
        action="explain",
        says=("socket", "network", "disable-socket"),
        arguments=("--disable-socket",),
        commits=(
            Commit(
                "Look whether a door is open",
                {
                    **project("doors", tests=("pytest-socket",), flat=True, python=">=3.9"),
                    "doors/look.py": """\
import socket


def is_open(host, port):
    with socket.socket() as one:
        one.settimeout(2)
        return one.connect_ex((host, port)) == 0


def parse(text):
    host, _, port = text.rpartition(":")
    return host or "localhost", int(port)
""",
                    "tests/test_look.py": """\
import pytest

from doors.look import is_open, parse


def test_closed():
    assert is_open("localhost", 9) is False


@pytest.mark.parametrize(
    ("text", "wanted"),
    [("a:1", ("a", 1)), ("80", ("localhost", 80)), (":8", ("localhost", 8)), ("::1:5", ("::1", 5))],
)
def test_parse(text, wanted):
    assert parse(text) == wanted
""",
                },
            ),
            Commit(
                "Let no test use the network",
                {
                    "pyproject.toml": project(
                        "doors", tests=("pytest-socket",), flat=True, python=">=3.9",
                        more='[tool.pytest.ini_options]\naddopts = "--disable-socket"',
                    )["pyproject.toml"]
                },
            ),
        ),
    ),
    Situation(
        name="own/mirror-answers-too-late",
        kind="network",
        action="explain",
        says=("network", "mirror.example", "resolve", "dns", "name or service not known"),
        commits=(
            Commit(
                "List the files of a mirror",
                {
                    **legacy("mirror"),
                    "mirror/listing.py": """\
import socket


def lines(host="mirror.example", port=873):
    with socket.create_connection((host, port), timeout=5) as one:
        one.sendall(b"LIST\\n")
        return one.makefile().read().splitlines()


def names(found):
    return [line.split()[-1] for line in found if line.strip()]
""",
                    "tests/test_listing.py": """\
import unittest

from mirror.listing import lines, names


class ListingTest(unittest.TestCase):
    def test_there_is_a_readme(self):
        self.assertIn("README", names(lines()))

    def test_names(self):
        self.assertEqual(names(["4 a", "9 b"]), ["a", "b"])

    def test_blank(self):
        self.assertEqual(names(["", " "]), [])

    def test_nothing(self):
        self.assertEqual(names([]), [])

    def test_one_word(self):
        self.assertEqual(names(["a"]), ["a"])
""",
                },
            ),
            Commit("Name the mirror", {"README.rst": "mirror\n======\n\nIt is at mirror.example.\n"}),
        ),
    ),
    Situation(
        name="own/fetch-forgets-the-port",
        kind="network",
        action="repair",
        commits=(
            Commit(
                "Fetch from a base",
                {
                    **project("fetching", about="pages below a base"),
                    "src/fetching/client.py": _CLIENT,
                    "tests/conftest.py": """\
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest


class Pages(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(f"page {self.path}".encode())

    def log_message(self, *args):
        pass


@pytest.fixture
def base():
    server = HTTPServer(("127.0.0.1", 0), Pages)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
""",
                    "tests/test_client.py": """\
import pytest

from fetching.client import address, fetch


@pytest.mark.parametrize("path", ["a", "/a"])
def test_fetch(base, path):
    assert fetch(base, path) == "page /a"


@pytest.mark.parametrize(
    ("base", "wanted"),
    [("http://x.example", "http://x.example/p"), ("https://y.example/q", "https://y.example/p")],
)
def test_address(base, wanted):
    assert address(base, "p") == wanted
""",
                },
            ),
            Commit(
                "Take the host by its name",
                {"src/fetching/client.py": changed(_CLIENT, ("parts.netloc", "parts.hostname"))},
            ),
        ),
        right={"src/fetching/client.py": _CLIENT},
        hidden={
            "tests/test_hidden_client.py": """\
import pytest

from fetching.client import address


@pytest.mark.parametrize(
    ("base", "wanted"),
    [
        ("http://localhost:8000", "http://localhost:8000/a"),
        ("https://host.example:444/b", "https://host.example:444/a"),
        ("http://[::1]:80/", "http://[::1]:80/a"),
    ],
)
def test_port_is_kept(base, wanted):
    assert address(base, "/a") == wanted
"""
        },
    ),
)  # fmt: skip
