"""A dependency's new version broke what was right for the old one."""

from __future__ import annotations

from benchmarks.street.own._files import ci, legacy, project
from benchmarks.street.situation import Commit, Situation

SITUATIONS = (
    Situation(
        name="own/kiosk-settings-moved-out",
        kind="dependency",
        action="explain",
        says=("pydantic",),
        package=("pydantic", "1.10.9", "2.0"),
        dates=("2023-06-20", "2023-07-10"),
        commits=(
            Commit(
                "Read the settings of a kiosk from the environment",
                {
                    **project("kiosk", "pydantic>=1", about="the screens in the hall"),
                    "src/kiosk/settings.py": """\
from pydantic import BaseSettings


class Settings(BaseSettings):
    title: str = "Welcome"
    rotate_seconds: int = 20
    debug: bool = False

    class Config:
        env_prefix = "KIOSK_"


def load():
    return Settings()
""",
                    "src/kiosk/slides.py": """\
def order(slides, first=None):
    rest = sorted(slide for slide in slides if slide != first)
    return [first, *rest] if first in slides else rest
""",
                    "tests/core/test_settings.py": """\
import pytest

from kiosk.settings import load


@pytest.mark.parametrize(
    ("name", "value", "field", "wanted"),
    [
        ("KIOSK_TITLE", "Hello", "title", "Hello"),
        ("KIOSK_ROTATE_SECONDS", "5", "rotate_seconds", 5),
        ("KIOSK_DEBUG", "1", "debug", True),
    ],
)
def test_environment(monkeypatch, name, value, field, wanted):
    monkeypatch.setenv(name, value)
    assert getattr(load(), field) == wanted
""",
                    "tests/test_slides.py": """\
import pytest

from kiosk.slides import order


@pytest.mark.parametrize(
    ("slides", "first", "wanted"),
    [(["b", "a"], None, ["a", "b"]), (["b", "a"], "b", ["b", "a"]), ([], "x", [])],
)
def test_order(slides, first, wanted):
    assert order(slides, first) == wanted
""",
                },
            ),
            Commit("Say what the kiosk is", {"README.md": "# kiosk\n\nScreens in the hall.\n"}),
        ),
    ),
    Situation(
        name="own/grades-scalar-type-gone",
        kind="dependency",
        action="explain",
        says=("numpy",),
        package=("numpy", "1.26.4", "2.0.0"),
        dates=("2024-06-10", "2024-06-20"),
        commits=(
            Commit(
                "Reckon grades as arrays",
                {
                    **project("grades", "numpy>=1.21", about="marks of a class", flat=True),
                    "grades/marks.py": """\
import numpy as np


def as_marks(values):
    return np.array(values, dtype=np.float_)


def curved(values, top=100):
    marks = as_marks(values)
    return marks * (top / marks.max())


def passed(values, least=50):
    return int((np.asarray(values) >= least).sum())
""",
                    "tests/test_marks.py": """\
import numpy as np
import pytest

from grades.marks import as_marks, curved, passed


def test_marks_are_floats():
    assert as_marks([1, 2]).dtype.kind == "f"


@pytest.mark.parametrize(
    ("values", "wanted"), [([50, 25], [100, 50]), ([80], [100]), ([10, 40], [25, 100])]
)
def test_curved(values, wanted):
    assert np.allclose(curved(values), wanted)


@pytest.mark.parametrize(("values", "wanted"), [([50, 49], 1), ([], 0), ([99, 60], 2)])
def test_passed(values, wanted):
    assert passed(values) == wanted
""",
                },
            ),
            Commit(
                "Let the least mark be chosen",
                {"README.md": "# grades\n\n`passed(values, least=60)` counts from sixty on.\n"},
            ),
        ),
    ),
    Situation(
        name="own/ferry-proxies-argument",
        kind="dependency",
        action="explain",
        says=("httpx", "proxies"),
        package=("httpx", "0.27.2", "0.28.0"),
        dates=("2024-11-20", "2024-12-02"),
        commits=(
            Commit(
                "Ask the harbour for departures",
                {
                    **project("ferry", "httpx>=0.23", about="departures of ferries"),
                    "src/ferry/client.py": """\
import httpx


class Harbour:
    def __init__(self, address, transport=None, proxies=None):
        self.http = httpx.Client(base_url=address, transport=transport, proxies=proxies)

    def departures(self, pier):
        answer = self.http.get("/departures", params={"pier": pier})
        answer.raise_for_status()
        return [row["at"] for row in answer.json()]
""",
                    "src/ferry/times.py": """\
def minutes(clock):
    hours, _, rest = clock.partition(":")
    return int(hours) * 60 + int(rest)


def following(departures, now):
    later = [d for d in departures if minutes(d) >= minutes(now)]
    return min(later, key=minutes, default=None)
""",
                    "tests/test_client.py": """\
import httpx
import pytest

from ferry.client import Harbour


def answer(request):
    if request.url.params["pier"] == "9":
        return httpx.Response(404)
    return httpx.Response(200, json=[{"at": "08:15"}, {"at": "09:45"}])


@pytest.fixture
def harbour():
    return Harbour("https://harbour.example", transport=httpx.MockTransport(answer))


def test_departures(harbour):
    assert harbour.departures("2") == ["08:15", "09:45"]


def test_unknown_pier(harbour):
    with pytest.raises(httpx.HTTPStatusError):
        harbour.departures("9")
""",
                    "tests/test_times.py": """\
import pytest

from ferry.times import following, minutes


@pytest.mark.parametrize(("clock", "wanted"), [("00:00", 0), ("08:15", 495), ("23:59", 1439)])
def test_minutes(clock, wanted):
    assert minutes(clock) == wanted


@pytest.mark.parametrize(("now", "wanted"), [("08:00", "08:15"), ("09:00", "09:45"), ("10:00", None)])
def test_following(now, wanted):
    assert following(["08:15", "09:45"], now) == wanted
""",
                },
            ),
            Commit("Raise the version", project("ferry", "httpx>=0.23", version="0.4.1")),
        ),
    ),
    Situation(
        name="own/choir-loader-wanted",
        kind="dependency",
        action="explain",
        says=("yaml",),
        package=("pyyaml", "5.4.1", "6.0"),
        dates=("2021-10-08", "2021-10-18"),
        python="3.9",
        commits=(
            Commit(
                "Keep the programme of a concert as YAML",
                {
                    **legacy("choir", "pyyaml>=5", workflow=ci(pythons=("3.9",))),
                    "choir/programme.py": """\
import yaml


def pieces(text):
    return yaml.load(text)["pieces"]


def length(found):
    return sum(piece.get("minutes", 0) for piece in found)


def voices(found):
    return sorted({voice for piece in found for voice in piece.get("voices", "SATB")})
""",
                    "tests/__init__.py": "",
                    "tests/test_programme.py": """\
import unittest

from choir.programme import length, pieces, voices

TEXT = "pieces:\\n- {title: Abendlied, minutes: 3}\\n- {title: Nachtlied, minutes: 4, voices: SA}\\n"


class ProgrammeTest(unittest.TestCase):
    def test_pieces(self):
        self.assertEqual([p["title"] for p in pieces(TEXT)], ["Abendlied", "Nachtlied"])

    def test_length(self):
        self.assertEqual(length([{"minutes": 3}, {}]), 3)

    def test_length_of_a_text(self):
        self.assertEqual(length(pieces(TEXT)), 7)

    def test_voices(self):
        self.assertEqual(voices([{"voices": "SA"}]), ["A", "S"])

    def test_all_voices(self):
        self.assertEqual(voices([{}]), ["A", "B", "S", "T"])
""",
                },
            ),
            Commit("Add a changelog", {"CHANGES.rst": "1.2.0\n-----\n\n- Voices of a concert.\n"}),
        ),
    ),
    Situation(
        name="own/turnstile-token-is-text",
        kind="dependency",
        action="explain",
        says=("pyjwt", "jwt"),
        package=("pyjwt", "1.7.1", "2.0.0"),
        dates=("2020-12-18", "2020-12-28"),
        commits=(
            Commit(
                "Sign the tickets",
                {
                    **project("turnstile", "PyJWT>=1.7", about="tickets that are signed"),
                    "src/turnstile/tickets.py": """\
import jwt

KEY = "a key for the tests of tickets, not for doors"


def issue(seat, price):
    return jwt.encode({"seat": seat, "price": price}, KEY, algorithm="HS256").decode("ascii")


def seat_of(ticket):
    return jwt.decode(ticket, KEY, algorithms=["HS256"])["seat"]


def row(seat):
    return seat[0].upper()
""",
                    "tests/test_tickets.py": """\
import pytest

from turnstile.tickets import issue, row, seat_of


@pytest.mark.parametrize("seat", ["a1", "b12", "f7"])
def test_seat(seat):
    assert seat_of(issue(seat, 9)) == seat


def test_ticket_has_three_parts():
    assert issue("a1", 9).count(".") == 2


@pytest.mark.parametrize(("seat", "wanted"), [("a1", "A"), ("F7", "F")])
def test_row(seat, wanted):
    assert row(seat) == wanted
""",
                },
            ),
            Commit("Thank the printers", {"README.md": "# turnstile\n\nThanks to the printers.\n"}),
        ),
    ),
)  # fmt: skip
