"""What the job's machine lacks: a locale, a library, a program, a service, a variable."""

from __future__ import annotations

from benchmarks.street.own._files import ci, legacy, project
from benchmarks.street.situation import Commit, Situation

SITUATIONS = (
    Situation(
        name="own/prices-german-locale",
        kind="missing",
        action="explain",
        says=("locale", "de_de"),
        commits=(
            Commit(
                "Write prices as the Germans do",
                {
                    **project("prices", about="prices in local form"),
                    "src/prices/local.py": """\
import locale


def shown(amount, place="de_DE.UTF-8"):
    before = locale.setlocale(locale.LC_NUMERIC)
    locale.setlocale(locale.LC_NUMERIC, place)
    try:
        return locale.format_string("%.2f", amount, grouping=True)
    finally:
        locale.setlocale(locale.LC_NUMERIC, before)


def cents(amount):
    return round(amount * 100)
""",
                    "tests/test_local.py": """\
import pytest

from prices.local import cents, shown


@pytest.mark.parametrize(("amount", "wanted"), [(1234.5, "1.234,50"), (0.5, "0,50")])
def test_shown(amount, wanted):
    assert shown(amount) == wanted


@pytest.mark.parametrize(("amount", "wanted"), [(1, 100), (0.29, 29), (0, 0)])
def test_cents(amount, wanted):
    assert cents(amount) == wanted
""",
                },
            ),
            Commit("Name the locale", {"README.md": "# prices\n\nThe default is German.\n"}),
        ),
    ),
    Situation(
        name="own/calendar-french-months",
        kind="missing",
        action="explain",
        says=("locale", "fr_fr"),
        commits=(
            Commit(
                "Name months in French",
                {
                    **legacy("almanac"),
                    "almanac/months.py": """\
import calendar


def months(place="fr_FR.UTF-8"):
    text = calendar.LocaleTextCalendar(locale=place)
    return [text.formatmonthname(2024, month, 0, withyear=False) for month in range(1, 13)]


def quarter(month):
    return (month + 2) // 3
""",
                    "tests/test_months.py": """\
import unittest

from almanac.months import months, quarter


class MonthsTest(unittest.TestCase):
    def test_first(self):
        self.assertEqual(months()[0], "janvier")

    def test_twelve(self):
        self.assertEqual(len(months()), 12)

    def test_quarter_of_march(self):
        self.assertEqual(quarter(3), 1)

    def test_quarter_of_april(self):
        self.assertEqual(quarter(4), 2)

    def test_last_quarter(self):
        self.assertEqual(quarter(12), 4)
""",
                },
            ),
            Commit(
                "Run the tests in a slim container",
                {".github/workflows/ci.yml": ci(job="container: python:3.11-slim")},
            ),
        ),
    ),
    Situation(
        name="own/scanner-library-for-codes",
        kind="missing",
        action="explain",
        says=("libzbar", "zbar", "shared library"),
        commits=(
            Commit(
                "Read codes with the library of the system",
                {
                    **project("scanner", about="codes on parcels", flat=True),
                    "scanner/library.py": """\
import ctypes


def version():
    library = ctypes.CDLL("libzbar.so.0")
    major, minor = ctypes.c_uint(), ctypes.c_uint()
    library.zbar_version(ctypes.byref(major), ctypes.byref(minor))
    return major.value, minor.value
""",
                    "scanner/codes.py": """\
def check_digit(digits):
    total = sum(int(d) * (1 if n % 2 == 0 else 3) for n, d in enumerate(digits))
    return -total % 10


def is_code(text):
    return text.isdigit() and len(text) == 13 and check_digit(text[:12]) == int(text[12])
""",
                    "tests/test_library.py": """\
from scanner.library import version


def test_version():
    assert version() >= (0, 20)
""",
                    "tests/test_codes.py": """\
import pytest

from scanner.codes import is_code


@pytest.mark.parametrize(
    ("text", "wanted"),
    [("4006381333931", True), ("4006381333932", False), ("400638", False), ("x", False), ("", False)],
)
def test_is_code(text, wanted):
    assert is_code(text) is wanted
""",
                },
            ),
            Commit("Mention labels", {"README.md": "# scanner\n\nFor labels of parcels.\n"}),
        ),
    ),
    Situation(
        name="own/voice-library-for-sound",
        kind="missing",
        action="explain",
        says=("portaudio", "libportaudio"),
        commits=(
            Commit(
                "Record with sounddevice",
                {
                    **project("voice", "sounddevice>=0.4", about="recordings of a voice"),
                    "src/voice/record.py": """\
def devices():
    import sounddevice

    return [device["name"] for device in sounddevice.query_devices()]


def loudest(samples):
    return max(map(abs, samples), default=0)
""",
                    "tests/test_record.py": """\
import pytest

from voice.record import devices, loudest


def test_devices_have_names():
    assert all(isinstance(name, str) for name in devices())


@pytest.mark.parametrize(("samples", "wanted"), [([], 0), ([1], 1), ([-3, 2], 3), ([0, 0], 0)])
def test_loudest(samples, wanted):
    assert loudest(samples) == wanted
""",
                },
            ),
            Commit("Thank the speakers", {"README.md": "# voice\n\nThanks to all speakers.\n"}),
        ),
    ),
    Situation(
        name="own/book-pandoc-is-not-there",
        kind="missing",
        action="explain",
        says=("pandoc",),
        commits=(
            Commit(
                "Bind a book of chapters",
                {
                    **project("binder", about="books of chapters"),
                    "src/binder/bind.py": """\
import subprocess


def as_html(text):
    done = subprocess.run(
        ["pandoc", "--from=markdown", "--to=html"],
        input=text, capture_output=True, text=True, check=True,
    )
    return done.stdout


def chapters(text):
    return [line[2:] for line in text.splitlines() if line.startswith("# ")]
""",
                    "tests/test_bind.py": """\
import pytest

from binder.bind import as_html, chapters


def test_heading():
    assert "<h1" in as_html("# One")


def test_emphasis():
    assert "<em>b</em>" in as_html("a *b*")


@pytest.mark.parametrize(
    ("text", "wanted"), [("", []), ("# A\\n\\nx\\n# B", ["A", "B"]), ("## A", [])]
)
def test_chapters(text, wanted):
    assert chapters(text) == wanted
""",
                },
            ),
            Commit("Say what is bound", {"README.md": "# binder\n\nChapters become a book.\n"}),
        ),
    ),
    Situation(
        name="own/plot-program-of-graphviz",
        kind="missing",
        action="explain",
        says=("graphviz", "'dot'", "`dot`", "dot "),
        commits=(
            Commit(
                "Draw how rooms are joined",
                {
                    **project("rooms", "graphviz", about="rooms and doors", flat=True, python=">=3.9"),
                    "rooms/draw.py": """\
import graphviz


def graph(doors):
    found = graphviz.Graph()
    for one, other in sorted(doors):
        found.edge(one, other)
    return found


def svg(doors):
    return graph(doors).pipe(format="svg", encoding="utf-8")


def joined(doors, room):
    return sorted({b if a == room else a for a, b in doors if room in (a, b)})
""",
                    "tests/test_draw.py": """\
import pytest

from rooms.draw import graph, joined, svg

DOORS = {("hall", "kitchen"), ("hall", "bath")}


def test_svg():
    assert "</svg>" in svg(DOORS)


def test_source():
    assert "hall -- bath" in graph(DOORS).source


@pytest.mark.parametrize(
    ("room", "wanted"), [("hall", ["bath", "kitchen"]), ("bath", ["hall"]), ("attic", [])]
)
def test_joined(room, wanted):
    assert joined(DOORS, room) == wanted
""",
                },
            ),
            Commit("Tell of rooms", {"README.md": "# rooms\n\nRooms and the doors between.\n"}),
        ),
    ),
)  # fmt: skip
