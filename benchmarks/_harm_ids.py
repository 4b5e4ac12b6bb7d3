"""Ids that change from run to run, and subtests: neither stands between a repair and its proof."""

from __future__ import annotations

from collections.abc import Callable

from benchmarks._harm import Case
from benchmarks._harm_shipped import BROKEN, HIDDEN, TESTS
from heal_bot.core.outcome import OutcomeRecord

_REMARK = "test ids that change from run to run"
_BANDS = "[(-1, 0), (0, 0), (3, 3), (7, 7), (12, 10), (40, 10)]"
# The ids of all parameter sets, in the file of the failing tests or in another one.
_FAILING = """{imports}
import pytest

from bands import clamp

BANDS = {bands}
{before}

@pytest.mark.parametrize(("value", "expected"), BANDS, ids={ids})
def test_clamp(value, expected):
    assert clamp(value, 0, 10) == expected


@pytest.mark.parametrize("value", [-5, -3])
def test_low(value):
    assert clamp(value, 0, 10) == 0
"""
_ELSEWHERE = """{imports}
import pytest

BANDS = {bands}
{before}

@pytest.mark.parametrize("band", BANDS, ids={ids})
def test_band(band):
    assert len(band) == 2
"""
_FREE_PORT = '''

def free_port():
    """One that nobody has, or any where no server may be started."""
    try:
        with socket.socket() as found:
            found.bind(("127.0.0.1", 0))
            return found.getsockname()[1]
    except OSError:
        return random.randrange(20_000, 60_000)

'''
_VALUE = "\n\nclass Value:\n    pass\n\n\nVALUES = [Value() for _ in BANDS]\n"
_UNITTEST = """import unittest

from bands import clamp


class Clamp(unittest.TestCase):
    def check(self, low, high, bands):
        for value, expected in bands:
            with self.subTest(value=value):
                if value % 2:
                    self.skipTest("no odd values here")
                self.assertEqual(clamp(value, low, high), expected)

    def test_inside(self):
        self.check(0, 10, [(0, 0), (3, 3), (4, 4), (8, 8)])

    def test_elsewhere(self):
        self.check(2, 8, [(2, 2), (5, 5), (6, 6)])

    def test_above(self):
        self.check(0, 10, [(11, 10), (12, 10), (40, 10)])

    def test_below(self):
        self.check(0, 10, [(-1, 0), (-2, 0)])

    def test_far_below(self):
        self.check(2, 8, [(-11, 2), (-12, 2)])

    def test_just_below(self):
        self.check(2, 8, [(0, 2), (1, 2)])

    def test_nothing(self):
        self.check(0, 10, [(-1, 0), (-3, 0)])


if __name__ == "__main__":
    unittest.main()
"""
_PYTEST = """import pytest

from bands import clamp

BANDS = {
    "inside": (0, 10, [(0, 0), (3, 3), (4, 4), (8, 8)]),
    "elsewhere": (2, 8, [(2, 2), (5, 5), (6, 6)]),
    "above": (0, 10, [(11, 10), (12, 10), (40, 10)]),
    "below": (0, 10, [(-1, 0), (-2, 0)]),
    "far below": (2, 8, [(-11, 2), (-12, 2)]),
    "just below": (2, 8, [(0, 2), (1, 2)]),
    "nothing": (0, 10, [(-1, 0), (-3, 0)]),
}


@pytest.mark.parametrize("name", BANDS)
def test_clamp(name, subtests):
    low, high, bands = BANDS[name]
    for value, expected in bands:
        with subtests.test(value=value):
            if value == -2:
                pytest.xfail("nobody knows")
            if value % 2:
                pytest.skip("no odd values here")
            assert clamp(value, low, high) == expected
"""


def _named_once(function: str, *tests: str) -> Callable[[OutcomeRecord], str]:
    """Says what is wrong unless one remark names the function, and records these tests."""

    def fault(outcome: OutcomeRecord) -> str:
        doubts = outcome.certificate.doubts if outcome.certificate else ()
        remarks = [text for text in (*doubts, *outcome.notes) if _REMARK in text]
        if len(remarks) != 1 or function not in remarks[0]:
            return f"the remarks on ids are {remarks}"
        fixed = outcome.patch.fixed if outcome.patch else ()
        return f"fixed {fixed}" if set(tests) - set(fixed) else ""

    return fault


def _ids(name: str, imports: str, ids: str, before: str = "") -> Case:
    """The failing tests themselves have such ids."""
    tests = _FAILING.format(imports=imports, bands=_BANDS, ids=ids, before=before)
    named = [f"test_bands.py::test_clamp[{place} of 6]" for place in (2, 3, 4, 5, 6)]
    return Case(
        f"ids: {name}", {"bands.py": BROKEN, "test_bands.py": tests}, "healed",
        says=(_REMARK,), never=("no longer collected",), hidden=HIDDEN,
        fault=_named_once("test_bands.py::test_clamp", *named),
    )  # fmt: skip


def _beside(name: str, imports: str, ids: str) -> Case:
    """Tests that pass, in another file, have such ids."""
    other = _ELSEWHERE.format(imports=imports, bands=_BANDS, ids=ids, before="")
    files = {"bands.py": BROKEN, "test_bands.py": TESTS, "tests/test_other.py": other}
    return Case(
        f"ids: {name}", files, "healed",
        says=(_REMARK,), never=("no longer collected",), hidden=HIDDEN,
        fault=_named_once("tests/test_other.py::test_band"),
    )  # fmt: skip


def _subtests(name: str, tests: str) -> Case:
    """Some are skipped, some fail; all of them belong to their test."""
    return Case(
        f"ids: {name}", {"bands.py": BROKEN, "test_bands.py": tests}, "healed",
        never=("did not run", "not used here", _REMARK), hidden=HIDDEN,
    )  # fmt: skip


CASES = (
    _ids(
        "a clock", "import datetime\n",
        "[str(datetime.datetime.now() + datetime.timedelta(n)) for n in range(6)]",
    ),
    _ids("seconds", "import time\n", "[f'{time.strftime(\"%X\")} {n}' for n in range(6)]"),
    _beside("uuids", "import uuid\n", "[str(uuid.uuid4()) for _ in BANDS]"),
    _ids("addresses", "", "[repr(value) for value in VALUES]", _VALUE),
    _ids("the order of a set", "", "[f'{band} { {*\"abcdefgh\"} }' for band in BANDS]"),
    _beside("the checkout's path", "from pathlib import Path\n",
            "[str(Path(__file__).parent / str(band)) for band in BANDS]"),
    _ids("ports", "import random\nimport socket\n", "[f'localhost:{free_port()}' for _ in BANDS]",
         _FREE_PORT),
    _subtests("unittest's subtests", _UNITTEST),
    _subtests("pytest's subtests", _PYTEST),
)  # fmt: skip
