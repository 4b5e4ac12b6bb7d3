"""Warnings as errors: a dependency's, a new Python's, or the project's own new line."""

from __future__ import annotations

from benchmarks.street.own._files import changed, ci, legacy, project
from benchmarks.street.situation import Commit, Situation

_ERROR = '[tool.pytest.ini_options]\nfilterwarnings = ["error"]'
_PATTERNS = """\
import re

_WORD = re.compile(r"\\w+(?:-\\w+)*")


def words(text):
    return _WORD.findall(text)


def split(line):
    name, _, rest = line.partition("=")
    return re.sub(r"\\s+", " ", name).strip(), rest.strip()
"""
_ROUTES = """\
import warnings


def distance(stops, unit="km"):
    total = sum(abs(b - a) for a, b in zip(stops, stops[1:]))
    return total if unit == "km" else total * 0.62


def length(stops):
    warnings.warn("length is called distance now", DeprecationWarning, stacklevel=2)
    return distance(stops)


def mean_leg(stops):
    return distance(stops) / (len(stops) - 1) if len(stops) > 1 else 0.0
"""

SITUATIONS = (
    Situation(
        name="own/harvest-dateutil-on-new-python",
        kind="warnings",
        action="explain",
        says=("dateutil", "utcfromtimestamp", "deprecat"),
        python="3.12",
        install=("python-dateutil==2.8.2",),
        commits=(
            Commit(
                "Plan the harvest",
                {
                    **project(
                        "harvest", "python-dateutil>=2.8,<2.9", more=_ERROR,
                        workflow=ci(pythons=("3.10", "3.11")),
                    ),
                    "src/harvest/plan.py": """\
def ripe(planted, days):
    from dateutil.parser import isoparse
    from dateutil.relativedelta import relativedelta

    return (isoparse(planted) + relativedelta(days=days)).date().isoformat()
""",
                    "src/harvest/crates.py": """\
def crates(kilos, each=12):
    return -(-kilos // each)
""",
                    "tests/test_plan.py": """\
import pytest

from harvest.plan import ripe


@pytest.mark.parametrize(
    ("planted", "days", "wanted"),
    [("2024-05-01", 60, "2024-06-30"), ("2024-02-28", 1, "2024-02-29")],
)
def test_ripe(planted, days, wanted):
    assert ripe(planted, days) == wanted
""",
                    "tests/test_crates.py": """\
import pytest

from harvest.crates import crates


@pytest.mark.parametrize(("kilos", "wanted"), [(0, 0), (12, 1), (13, 2)])
def test_crates(kilos, wanted):
    assert crates(kilos) == wanted
""",
                },
            ),
            Commit(
                "Test with Python 3.12",
                {".github/workflows/ci.yml": ci(pythons=("3.10", "3.11", "3.12"))},
            ),
        ),
    ),
    Situation(
        name="own/diary-utcnow-is-deprecated",
        kind="warnings",
        action="explain",
        says=("utcnow", "deprecat"),
        python="3.13",
        arguments=("-W", "error"),
        commits=(
            Commit(
                "Stamp entries of a diary",
                {
                    **legacy("diary", workflow=ci(pythons=("3.10",), arguments="-W error")),
                    "diary/entries.py": """\
from datetime import datetime


def stamped(text, now=None):
    moment = now or datetime.utcnow()
    return f"{moment:%Y-%m-%d %H:%M} {text}"


def day(entry):
    return entry[:10]


def text(entry):
    return entry[17:]
""",
                    "tests/test_entries.py": """\
import unittest
from datetime import datetime

from diary.entries import day, stamped, text

NOON = datetime(2024, 1, 5, 12)


class EntriesTest(unittest.TestCase):
    def test_stamped(self):
        self.assertEqual(stamped("Rain", NOON), "2024-01-05 12:00 Rain")

    def test_now(self):
        self.assertTrue(stamped("Rain").endswith(" Rain"))

    def test_day(self):
        self.assertEqual(day(stamped("Rain", NOON)), "2024-01-05")

    def test_text(self):
        self.assertEqual(text(stamped("Rain", NOON)), "Rain")

    def test_empty(self):
        self.assertEqual(text(stamped("", NOON)), "")
""",
                },
            ),
            Commit(
                "Run the tests on 3.13 too",
                {".github/workflows/ci.yml": ci(pythons=("3.10", "3.13"), arguments="-W error")},
            ),
        ),
    ),
    Situation(
        name="own/resources-warned-by-setuptools",
        kind="warnings",
        action="explain",
        says=("pkg_resources", "setuptools", "deprecat"),
        install=("setuptools==75.8.0",),
        commits=(
            Commit(
                "List plugins of the mill",
                {
                    **project("mill", "setuptools<81", more=_ERROR, about="a mill with plugins"),
                    "src/mill/plugins.py": """\
def plugins(group="mill.plugins"):
    import pkg_resources

    return sorted(point.name for point in pkg_resources.iter_entry_points(group))


def chosen(found, names):
    return [name for name in names if name in found]
""",
                    "tests/test_plugins.py": """\
import pytest

from mill.plugins import chosen, plugins


def test_no_plugins():
    assert plugins() == []


@pytest.mark.parametrize(
    ("found", "names", "wanted"),
    [([], ["a"], []), (["a"], ["a"], ["a"]), (["a", "b"], ["b", "a"], ["b", "a"]), (["a"], [], [])],
)
def test_chosen(found, names, wanted):
    assert chosen(found, names) == wanted
""",
                },
            ),
            Commit("Raise the version", project("mill", "setuptools<81", more=_ERROR, version="0.5.0")),
        ),
    ),
    Situation(
        name="own/archive-tar-filter-is-wanted",
        kind="warnings",
        action="explain",
        says=("filter", "tar", "deprecat"),
        python="3.12",
        commits=(
            Commit(
                "Unpack archives",
                {
                    **project("archive", more=_ERROR, flat=True, workflow=ci(pythons=("3.9", "3.11"))),
                    "archive/unpack.py": """\
import tarfile


def unpack(path, folder):
    with tarfile.open(path) as tar:
        tar.extractall(folder)
        return sorted(tar.getnames())


def kind(name):
    return "tar" if name.endswith((".tar", ".tgz", ".tar.gz")) else "other"
""",
                    "tests/test_unpack.py": """\
import tarfile

import pytest

from archive.unpack import kind, unpack


def test_unpack(tmp_path):
    (tmp_path / "a.txt").write_text("a")
    with tarfile.open(tmp_path / "a.tar", "w") as tar:
        tar.add(tmp_path / "a.txt", "a.txt")
    assert unpack(tmp_path / "a.tar", tmp_path / "out") == ["a.txt"]


@pytest.mark.parametrize(
    ("name", "wanted"), [("a.tar", "tar"), ("a.tgz", "tar"), ("a.zip", "other"), ("tar", "other")]
)
def test_kind(name, wanted):
    assert kind(name) == wanted
""",
                },
            ),
            Commit(
                "Test with Python 3.12",
                {".github/workflows/ci.yml": ci(pythons=("3.9", "3.11", "3.12"))},
            ),
        ),
    ),
    Situation(
        name="own/routes-own-warning-of-a-new-line",
        kind="warnings",
        action="repair",
        commits=(
            Commit(
                "Reckon distances; length is deprecated",
                {
                    **project("routes", more=_ERROR, about="distances between stops"),
                    "src/routes/distance.py": _ROUTES,
                    "tests/test_distance.py": """\
import pytest

from routes.distance import distance, length, mean_leg


@pytest.mark.parametrize(("stops", "wanted"), [([], 0), ([3], 0), ([0, 4], 4), ([0, 4, 1], 7)])
def test_distance(stops, wanted):
    assert distance(stops) == wanted


def test_length_warns():
    with pytest.deprecated_call():
        assert length([0, 2]) == 2


@pytest.mark.parametrize(("stops", "wanted"), [([0, 4, 2], 3.0), ([0, 5], 5.0), ([1], 0.0)])
def test_mean_leg(stops, wanted):
    assert mean_leg(stops) == wanted
""",
                },
            ),
            Commit(
                "Reckon the mean by the length of a route",
                {
                    "src/routes/distance.py": changed(
                        _ROUTES, ("return distance(stops) / (len", "return length(stops) / (len")
                    )
                },
            ),
        ),
        right={"src/routes/distance.py": _ROUTES},
        hidden={
            "tests/test_hidden_distance.py": """\
import warnings

import pytest

from routes.distance import length, mean_leg


@pytest.mark.parametrize(("stops", "wanted"), [([0, 1, 3, 6], 2.0), ([9, 0], 9.0)])
def test_mean_leg(stops, wanted):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert mean_leg(stops) == wanted


def test_length_still_warns():
    with pytest.warns(DeprecationWarning, match="distance"):
        length([0, 1])
"""
        },
    ),
    Situation(
        name="own/patterns-flags-amid-the-pattern",
        kind="warnings",
        action="repair",
        python="3.10",
        commits=(
            Commit(
                "Find words",
                {
                    **project("patterns", more=_ERROR, flat=True, workflow=ci(pythons=("3.10",))),
                    "patterns/words.py": _PATTERNS,
                    "tests/test_words.py": """\
import pytest

from patterns.words import split, words


@pytest.mark.parametrize(
    ("text", "wanted"), [("", []), ("a b", ["a", "b"]), ("well-known fact", ["well-known", "fact"])]
)
def test_words(text, wanted):
    assert words(text) == wanted


@pytest.mark.parametrize(
    ("line", "wanted"),
    [("a=1", ("a", "1")), (" a  b = 2 ", ("a b", "2")), ("a", ("a", "")), ("a\\tb=3", ("a b", "3"))],
)
def test_split(line, wanted):
    assert split(line) == wanted
""",
                },
            ),
            Commit(
                "Let names be written over lines",
                {
                    "patterns/words.py": changed(
                        _PATTERNS, ('re.sub(r"\\s+", " ", name)', 're.sub(r"\\s+(?s)", " ", name)')
                    )
                },
            ),
        ),
        right={"patterns/words.py": _PATTERNS},
        hidden={
            "tests/test_hidden_words.py": """\
import pytest

from patterns.words import split


@pytest.mark.parametrize(
    ("line", "wanted"), [("a\\nb=1", ("a b", "1")), ("x  y  z==", ("x y z", "=")), ("=", ("", ""))]
)
def test_split(line, wanted):
    assert split(line) == wanted
"""
        },
    ),
)  # fmt: skip
