"""One leg of a matrix alone is red: its Python, what it leaves out, what it sets."""

from __future__ import annotations

from benchmarks.street.own._files import ci, legacy, project
from benchmarks.street.situation import Commit, Situation

SITUATIONS = (
    Situation(
        name="own/weaver-distutils-is-gone",
        kind="matrix",
        action="explain",
        says=("distutils", "3.12"),
        python="3.12",
        commits=(
            Commit(
                "Compare versions of looms",
                {
                    **legacy("weaver"),
                    "weaver/looms.py": """\
from distutils.version import LooseVersion


def newest(versions):
    return max(versions, key=LooseVersion)


def fits(version, least):
    return LooseVersion(version) >= LooseVersion(least)
""",
                    "weaver/threads.py": "def length(threads):\n    return sum(threads)\n",
                    "tests/test_looms.py": """\
import pytest

from weaver.looms import fits, newest


@pytest.mark.parametrize(("versions", "wanted"), [(["1.2", "1.10"], "1.10"), (["3"], "3")])
def test_newest(versions, wanted):
    assert newest(versions) == wanted


def test_fits():
    assert fits("2.1", "2.0")
""",
                    "tests/test_threads.py": """\
import pytest

from weaver.threads import length


@pytest.mark.parametrize(("threads", "wanted"), [([], 0), ([1], 1), ([2, 3], 5)])
def test_length(threads, wanted):
    assert length(threads) == wanted
""",
                },
            ),
            Commit(
                "Test with Python 3.12",
                {".github/workflows/ci.yml": ci(pythons=("3.8", "3.10", "3.12"))},
            ),
        ),
    ),
    Situation(
        name="own/parcel-minimal-leg-without-extra",
        kind="matrix",
        action="explain",
        says=("orjson",),
        variables={"EXTRAS": "minimal"},
        commits=(
            Commit(
                "Pack parcels, faster where orjson is there",
                {
                    **project(
                        "parcel", about="parcels as bytes", python=">=3.9",
                        more='[tool.pytest.ini_options]\ntestpaths = ["tests"]',
                        workflow=ci(matrix="extras: [minimal, fast]", env="EXTRAS: ${{ matrix.extras }}"),
                    ),
                    "src/parcel/pack.py": """\
import json

try:
    import orjson
except ImportError:
    orjson = None


def pack(value):
    if orjson is not None:
        return orjson.dumps(value)
    return json.dumps(value, separators=(",", ":")).encode()


def unpack(data):
    return json.loads(data)
""",
                    "tests/test_pack.py": """\
import pytest

from parcel.pack import pack, unpack


@pytest.mark.parametrize("value", [None, 1, "x", [1, 2], {"a": [True]}])
def test_both_ways(value):
    assert unpack(pack(value)) == value


def test_bytes():
    assert pack({"a": 1}) == b'{"a":1}'
""",
                },
            ),
            Commit(
                "Compare with orjson itself",
                {
                    "tests/test_fast.py": """\
import datetime

from parcel.pack import pack


def test_as_orjson_packs():
    import orjson

    assert pack([1.5]) == orjson.dumps([1.5])


def test_dates():
    import orjson

    assert orjson.dumps(datetime.date(2024, 1, 2)) == b'"2024-01-02"'
"""
                },
            ),
        ),
    ),
    Situation(
        name="own/painter-message-of-newest-python",
        kind="matrix",
        action="explain",
        says=("3.13", "did you mean", "message"),
        python="3.13",
        commits=(
            Commit(
                "Paint with named arguments",
                {
                    **project("painter", workflow=ci(pythons=("3.9", "3.12"))),
                    "src/painter/paint.py": """\
def stroke(*, colour="black", width=1):
    return f"{width}px {colour}"


def paint(**options):
    try:
        return stroke(**options)
    except TypeError as error:
        raise ValueError(f"cannot paint: {error}") from None
""",
                    "tests/test_paint.py": """\
import pytest

from painter.paint import paint


def test_unknown_option():
    with pytest.raises(ValueError) as caught:
        paint(color="red")
    wanted = "cannot paint: stroke() got an unexpected keyword argument 'color'"
    assert str(caught.value) == wanted


@pytest.mark.parametrize(
    ("options", "wanted"),
    [({}, "1px black"), ({"colour": "red"}, "1px red"), ({"width": 3}, "3px black")],
)
def test_paint(options, wanted):
    assert paint(**options) == wanted
""",
                },
            ),
            Commit(
                "Test with Python 3.13",
                {".github/workflows/ci.yml": ci(pythons=("3.9", "3.12", "3.13"))},
            ),
        ),
    ),
    Situation(
        name="own/clock-zone-data-of-the-slim-leg",
        kind="matrix",
        action="explain",
        says=("tzdata", "time zone", "timezone", "zoneinfo"),
        variables={"PYTHONTZPATH": "", "IMAGE": "slim"},
        commits=(
            Commit(
                "Tell the time elsewhere",
                {
                    **project(
                        "clock", python=">=3.9",
                        workflow=ci(
                            matrix="image: [full, slim]", job="container: python:3.11-${{ matrix.image }}",
                            env='IMAGE: ${{ matrix.image }}\nPYTHONTZPATH: ""',
                        ),
                    ),
                    "src/clock/zones.py": """\
from datetime import datetime, timezone
from zoneinfo import ZoneInfo


def elsewhere(moment, zone):
    return moment.replace(tzinfo=timezone.utc).astimezone(ZoneInfo(zone)).strftime("%H:%M")


def utc(text):
    return datetime.strptime(text, "%Y-%m-%d %H:%M")
""",
                    "tests/test_zones.py": """\
import pytest

from clock.zones import elsewhere, utc


@pytest.mark.parametrize(
    ("zone", "wanted"), [("Europe/Oslo", "13:00"), ("Asia/Tokyo", "21:00")]
)
def test_elsewhere(zone, wanted):
    assert elsewhere(utc("2024-01-05 12:00"), zone) == wanted


@pytest.mark.parametrize("text", ["2024-01-05 12:00", "1999-12-31 23:59", "2000-02-29 00:00"])
def test_utc(text):
    assert utc(text).strftime("%Y-%m-%d %H:%M") == text
""",
                },
            ),
            Commit("Say that times are local", {"README.md": "# clock\n\nTimes are local.\n"}),
        ),
    ),
)  # fmt: skip
