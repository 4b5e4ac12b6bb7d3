"""Services and variables that the job lacks; and bugs that look so: a wrong name, a wrong path."""

from __future__ import annotations

from benchmarks.street.own._files import ci, legacy, project
from benchmarks.street.situation import Commit, Situation

SITUATIONS = (
    Situation(
        name="own/scores-redis-is-not-running",
        kind="missing",
        action="explain",
        says=("redis", "6379", "connection refused", "service"),
        commits=(
            Commit(
                "Keep scores in redis",
                {
                    **project("scores", "redis>=4", about="scores of players"),
                    "src/scores/board.py": """\
import redis


class Board:
    def __init__(self, host="localhost", port=6379):
        self.server = redis.Redis(host=host, port=port, retry=None, decode_responses=True)

    def add(self, player, points):
        return int(self.server.incrby(f"score:{player}", points))


def medal(place):
    return {1: "gold", 2: "silver", 3: "bronze"}.get(place, "")
""",
                    "tests/test_board.py": """\
import pytest

from scores.board import Board, medal


def test_points_add_up():
    board = Board()
    before = board.add("ada", 0)
    assert board.add("ada", 3) == before + 3


@pytest.mark.parametrize(
    ("place", "wanted"), [(1, "gold"), (2, "silver"), (3, "bronze"), (4, "")]
)
def test_medal(place, wanted):
    assert medal(place) == wanted
""",
                },
            ),
            Commit(
                "Use the small runner",
                {".github/workflows/ci.yml": ci(systems=("ubuntu-slim",))},
            ),
        ),
    ),
    Situation(
        name="own/guests-database-refuses",
        kind="missing",
        action="explain",
        says=("5433", "postgres", "connection refused", "database", "service"),
        commits=(
            Commit(
                "Keep guests in PostgreSQL",
                {
                    **project("guests", "pg8000>=1.29", about="guests of a house", flat=True),
                    "guests/store.py": """\
import os

import pg8000.native


def connect():
    return pg8000.native.Connection(
        "guests",
        password="guests",
        host=os.environ.get("PGHOST", "localhost"),
        port=int(os.environ.get("PGPORT", "5433")),
        timeout=5,
    )


def count(connection):
    return connection.run("select count(*) from guests")[0][0]
""",
                    "guests/names.py": """\
def initials(name):
    return "".join(part[0].upper() for part in name.split())
""",
                    "tests/conftest.py": """\
import pytest

from guests.store import connect


@pytest.fixture
def connection():
    found = connect()
    found.run("create temporary table guests (name text)")
    yield found
    found.close()
""",
                    "tests/test_store.py": """\
from guests.store import count


def test_nobody(connection):
    assert count(connection) == 0


def test_one(connection):
    connection.run("insert into guests values ('Ada')")
    assert count(connection) == 1
""",
                    "tests/test_names.py": """\
import pytest

from guests.names import initials


@pytest.mark.parametrize(("name", "wanted"), [("Ada Byron", "AB"), ("bo", "B"), ("", "")])
def test_initials(name, wanted):
    assert initials(name) == wanted
""",
                },
            ),
            Commit("Move to the new runners", {".github/workflows/ci.yml": ci(systems=("ubuntu-24.04",))}),
        ),
    ),
    Situation(
        name="own/notes-mail-server-refuses",
        kind="missing",
        action="explain",
        says=("1025", "smtp", "connection refused", "mail", "service"),
        commits=(
            Commit(
                "Send notes by mail",
                {
                    **legacy("notes"),
                    "notes/send.py": """\
import smtplib
from email.message import EmailMessage


def message(to, text):
    found = EmailMessage()
    found["To"], found["From"] = to, "notes@example.org"
    found["Subject"] = text.splitlines()[0] if text else "(empty)"
    found.set_content(text)
    return found


def send(to, text, host="localhost", port=1025):
    with smtplib.SMTP(host, port, timeout=5) as server:
        return server.send_message(message(to, text))
""",
                    "tests/test_send.py": """\
import unittest

from notes.send import message, send


class MessageTest(unittest.TestCase):
    def test_subject(self):
        self.assertEqual(message("a@example.org", "Tea\\nat five")["Subject"], "Tea")

    def test_no_subject(self):
        self.assertEqual(message("a@example.org", "")["Subject"], "(empty)")

    def test_to(self):
        self.assertEqual(message("a@example.org", "x")["To"], "a@example.org")

    def test_from(self):
        self.assertIn("notes@", message("a@example.org", "x")["From"])


class SendTest(unittest.TestCase):
    def test_nobody_is_refused(self):
        self.assertEqual(send("a@example.org", "Tea"), {})
""",
                },
            ),
            Commit("Say which server", {"README.rst": "notes\n=====\n\nTests want mailpit.\n"}),
        ),
    ),
    Situation(
        name="own/weather-secret-is-not-given",
        kind="missing",
        action="explain",
        says=("weather_api_key", "environment variable", "secret"),
        commits=(
            Commit(
                "Sign requests for the weather",
                {
                    **project(
                        "weather", workflow=ci(env="WEATHER_API_KEY: ${{ secrets.WEATHER_API_KEY }}"),
                    ),
                    "src/weather/signed.py": """\
import hashlib
import hmac


def signature(key, path):
    return hmac.new(key.encode(), path.encode(), hashlib.sha256).hexdigest()


def signed(key, path):
    return f"{path}?sig={signature(key, path)}"
""",
                    "tests/test_signed.py": """\
import os

import pytest

from weather.signed import signature, signed


@pytest.fixture
def key():
    return os.environ["WEATHER_API_KEY"]


def test_with_the_real_key(key):
    assert signed(key, "/now").startswith("/now?sig=")


def test_real_key_is_long(key):
    assert len(key) >= 32


@pytest.mark.parametrize("path", ["/now", "/later", ""])
def test_signature(path):
    assert len(signature("k", path)) == 64
""",
                },
            ),
            Commit(
                "Run the tests without secrets for forks",
                {".github/workflows/ci.yml": ci()},
            ),
        ),
    ),
    Situation(
        name="own/reports-folder-variable",
        kind="missing",
        action="explain",
        says=("report_root", "environment variable"),
        commits=(
            Commit(
                "File reports by year",
                {
                    **project("filing", flat=True, workflow=ci(env="REPORT_ROOT: /srv/reports")),
                    "filing/paths.py": """\
import os
from pathlib import PurePosixPath


def place(year, name):
    return PurePosixPath(os.environ["REPORT_ROOT"], str(year), f"{name}.txt")


def year_of(path):
    return int(PurePosixPath(path).parent.name)
""",
                    "tests/test_paths.py": """\
import pytest

from filing.paths import place, year_of


def test_place():
    assert str(place(2024, "a")).endswith("/2024/a.txt")


def test_place_and_back():
    assert year_of(place(1999, "b")) == 1999


@pytest.mark.parametrize(("path", "wanted"), [("/x/2024/a.txt", 2024), ("1/a", 1), ("/5/a", 5)])
def test_year(path, wanted):
    assert year_of(path) == wanted
""",
                },
            ),
            Commit("Simplify the workflow", {".github/workflows/ci.yml": ci()}),
        ),
    ),
)  # fmt: skip
