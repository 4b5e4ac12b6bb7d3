"""Legs that may fail: a Python to come, pre-releases, jobs that are only watched."""

from __future__ import annotations

from benchmarks.street.own._files import changed, ci, legacy, project
from benchmarks.street.situation import Commit, Situation

_LEG = """\
experimental: [false]
include:
  - python: "3.13"
    experimental: true
"""
_KNITTING = """\
def rows(stitches, per_row):
    if per_row < 1:
        raise ValueError("a row has a stitch at least")
    return -(-stitches // per_row)


def pattern(stitches, per_row):
    return [min(per_row, stitches - n * per_row) for n in range(rows(stitches, per_row))]
"""

SITUATIONS = (
    Situation(
        name="own/postbox-next-python-may-fail",
        kind="allowed",
        action="silent",
        python="3.13",
        variables={"GITHUB_JOB": "test"},
        commits=(
            Commit(
                "Sort letters",
                {
                    **legacy("postbox"),
                    "postbox/letters.py": """\
import cgi


def kind(header):
    return cgi.parse_header(header)[0]


def charset(header, fallback="utf-8"):
    return cgi.parse_header(header)[1].get("charset", fallback)
""",
                    "postbox/boxes.py": """\
def box(name):
    return name.strip().lower()[:1] or "?"
""",
                    "tests/test_letters.py": """\
import unittest


class LettersTest(unittest.TestCase):
    def test_kind(self):
        from postbox.letters import kind

        self.assertEqual(kind("text/plain; charset=latin-1"), "text/plain")

    def test_charset(self):
        from postbox.letters import charset

        self.assertEqual(charset("text/plain; charset=latin-1"), "latin-1")
""",
                    "tests/test_boxes.py": """\
import pytest

from postbox.boxes import box


@pytest.mark.parametrize(("name", "wanted"), [("Ada", "a"), (" bo", "b"), ("", "?")])
def test_box(name, wanted):
    assert box(name) == wanted
""",
                },
            ),
            Commit(
                "Watch Python 3.13, which may fail as yet",
                {
                    ".github/workflows/ci.yml": ci(
                        pythons=("3.10", "3.11"), matrix=_LEG,
                        job="continue-on-error: ${{ matrix.experimental }}",
                    )
                },
            ),
        ),
    ),
    Situation(
        name="own/lantern-pre-releases-are-watched",
        kind="allowed",
        action="silent",
        install=("numpy==2.0.2",),
        variables={"GITHUB_JOB": "upcoming"},
        commits=(
            Commit(
                "Measure light",
                {
                    **project("lantern", "numpy<2", about="light of lanterns", python=">=3.9"),
                    "src/lantern/light.py": """\
import numpy as np


def lumen(samples):
    return float(np.trapz(samples))


def brightest(samples):
    return int(np.argmax(samples))


def product(samples):
    return float(np.product(samples))
""",
                    "tests/test_light.py": """\
import pytest

from lantern.light import brightest, lumen, product


@pytest.mark.parametrize(("samples", "wanted"), [([1, 3, 2], 1), ([4], 0), ([0, 0, 9], 2)])
def test_brightest(samples, wanted):
    assert brightest(samples) == wanted


def test_lumen():
    assert lumen([1, 1, 1]) == 2.0


def test_product():
    assert product([2, 3]) == 6.0
""",
                },
            ),
            Commit(
                "Try what is to come in a job that may fail",
                {
                    ".github/workflows/ci.yml": ci()
                    + ci(
                        job="continue-on-error: true", before="python -m pip install --pre -U numpy"
                    ).partition("jobs:\n")[2].replace("  test:", "  upcoming:")
                },
            ),
        ),
    ),
    Situation(
        name="own/kettle-nightly-is-only-watched",
        kind="allowed",
        action="silent",
        variables={"GITHUB_JOB": "nightly", "KETTLE_ENGINE": "next"},
        commits=(
            Commit(
                "Boil water with either engine",
                {
                    **project("kettle", about="how long water takes", flat=True),
                    "kettle/boil.py": """\
import os


def seconds(litres, watts, start=20):
    if os.environ.get("KETTLE_ENGINE") == "next":
        return _next(litres, watts, start)
    return round(litres * 4186 * (100 - start) / watts)


def _next(litres, watts, start):
    return round(litres * 4186 * (100 - start) / (watts * 0.9))
""",
                    "tests/test_boil.py": """\
import pytest

from kettle.boil import seconds


@pytest.mark.parametrize(
    ("litres", "watts", "wanted"), [(1, 2000, 167), (2, 2000, 335), (1, 1000, 335)]
)
def test_seconds(litres, watts, wanted):
    assert seconds(litres, watts) == wanted


def test_boiling_already():
    assert seconds(1, 2000, start=100) == 0


def test_nothing():
    assert seconds(0, 2000) == 0
""",
                },
            ),
            Commit(
                "Run the next engine in a job of its own\n\nIt reckons with losses and its figures"
                " are not settled: the job may fail.",
                {
                    ".github/workflows/ci.yml": ci()
                    + ci(job="continue-on-error: true", env="KETTLE_ENGINE: next")
                    .partition("jobs:\n")[2].replace("  test:", "  nightly:")
                },
            ),
        ),
    ),
    Situation(
        name="own/mosaic-oldest-python-may-fail",
        kind="allowed",
        action="silent",
        python="3.9",
        variables={"GITHUB_JOB": "test"},
        commits=(
            Commit(
                "Lay tiles",
                {
                    **project("mosaic", about="tiles", flat=True, python=">=3.9"),
                    "mosaic/tiles.py": """\
def merge(ours, theirs):
    return dict([*zip(ours, ours.values(), strict=True), *theirs.items()])


def cost(tiles, prices):
    return sum(count * prices[name] for name, count in tiles.items())
""",
                    "tests/test_tiles.py": """\
import pytest

from mosaic.tiles import cost, merge


@pytest.mark.parametrize(
    ("ours", "theirs", "wanted"),
    [({}, {}, {}), ({"a": 1}, {"a": 2}, {"a": 2}), ({"a": 1}, {"b": 2}, {"a": 1, "b": 2})],
)
def test_merge(ours, theirs, wanted):
    assert merge(ours, theirs) == wanted


@pytest.mark.parametrize(("tiles", "wanted"), [({}, 0), ({"red": 3}, 6)])
def test_cost(tiles, wanted):
    assert cost(tiles, {"red": 2}) == wanted
""",
                },
            ),
            Commit(
                "Let Python 3.9 fail until it is dropped in the next release",
                {
                    ".github/workflows/ci.yml": ci(
                        pythons=("3.9", "3.11"), job="continue-on-error: ${{ matrix.python == '3.9' }}"
                    )
                },
            ),
        ),
    ),
    Situation(
        name="own/knitting-stable-leg-is-red",
        kind="allowed",
        action="repair",
        variables={"GITHUB_JOB": "test"},
        commits=(
            Commit(
                "Reckon rows of a pattern",
                {
                    **project("knitting", about="rows and stitches"),
                    "src/knitting/rows.py": _KNITTING,
                    "tests/test_rows.py": """\
import pytest

from knitting.rows import pattern, rows


@pytest.mark.parametrize(("stitches", "wanted"), [(0, 0), (1, 1), (10, 1), (11, 2), (20, 2)])
def test_rows(stitches, wanted):
    assert rows(stitches, 10) == wanted


def test_pattern():
    assert pattern(25, 10) == [10, 10, 5]


def test_no_row():
    with pytest.raises(ValueError):
        rows(5, 0)
""",
                },
            ),
            Commit(
                "Watch Python 3.13, which may fail as yet",
                {
                    ".github/workflows/ci.yml": ci(
                        pythons=("3.10", "3.11"), matrix=_LEG,
                        job="continue-on-error: ${{ matrix.experimental }}",
                    )
                },
            ),
            Commit(
                "Make the number of rows easier to read",
                {
                    "src/knitting/rows.py": changed(
                        _KNITTING, ("-(-stitches // per_row)", "stitches // per_row + 1")
                    )
                },
            ),
        ),
        right={"src/knitting/rows.py": _KNITTING},
        hidden={
            "tests/test_hidden_rows.py": """\
import pytest

from knitting.rows import pattern, rows


@pytest.mark.parametrize("per_row", range(1, 9))
def test_sum(per_row):
    assert sum(pattern(24, per_row)) == 24
    assert 0 not in pattern(24, per_row)


def test_exact():
    assert rows(21, 7) == 3
"""
        },
    ),
)  # fmt: skip
