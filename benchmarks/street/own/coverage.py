"""A threshold of coverage is missed and no test fails; and one where a test does."""

from __future__ import annotations

from benchmarks.street.own._files import changed, ci, legacy, project
from benchmarks.street.situation import Commit, Situation


def _cov(name: str, least: int) -> tuple[str, ...]:
    return (f"--cov={name}", f"--cov-fail-under={least}")


_PRICES = """\
def net(gross, rate=19):
    return gross - vat(gross, rate)


def vat(gross, rate=19):
    return round(gross * rate / (100 + rate), 2)


def rounded(amount, step=5):
    return step * round(amount / step)
"""

SITUATIONS = (
    Situation(
        name="own/wallet-coverage-below-ninety",
        kind="coverage",
        action="silent",
        arguments=_cov("wallet", 90),
        commits=(
            Commit(
                "Count coins",
                {
                    **project(
                        "wallet", tests=("pytest-cov",), about="coins",
                        workflow=ci(arguments=" ".join(_cov("wallet", 90))),
                    ),
                    "src/wallet/coins.py": "def total(coins):\n    return sum(coins)\n",
                    "tests/test_coins.py": """\
import pytest

from wallet.coins import total


@pytest.mark.parametrize(("coins", "wanted"), [([], 0), ([1], 1), ([1, 2], 3), ([5, 5], 10), ([0], 0)])
def test_total(coins, wanted):
    assert total(coins) == wanted
""",
                },
            ),
            Commit(
                "Give change",
                {
                    "src/wallet/change.py": """\
def change(amount, coins=(50, 20, 10, 5, 2, 1)):
    found = []
    for coin in coins:
        while amount >= coin:
            found.append(coin)
            amount -= coin
    return found
"""
                },
            ),
        ),
    ),
    Situation(
        name="own/lamps-coverage-of-branches",
        kind="coverage",
        action="silent",
        arguments=("--cov=lamps", "--cov-branch", "--cov-fail-under=100"),
        commits=(
            Commit(
                "Switch lamps",
                {
                    **legacy(
                        "lamps", tests=("pytest-cov",),
                        workflow=ci(arguments="--cov=lamps --cov-branch --cov-fail-under=100"),
                    ),
                    "lamps/switch.py": "def switched(state):\n    return not state\n",
                    "tests/test_switch.py": """\
import unittest

from lamps.switch import switched


class SwitchTest(unittest.TestCase):
    def test_on(self):
        self.assertTrue(switched(False))

    def test_off(self):
        self.assertFalse(switched(True))
""",
                },
            ),
            Commit(
                "Dim lamps",
                {
                    "lamps/dim.py": """\
def dim(level, by=10):
    if level > by:
        level -= by
    return level
""",
                    "tests/test_dim.py": """\
import unittest

from lamps.dim import dim


class DimTest(unittest.TestCase):
    def test_dim(self):
        self.assertEqual(dim(50), 40)

    def test_dim_by(self):
        self.assertEqual(dim(50, by=20), 30)

    def test_brightest(self):
        self.assertEqual(dim(100), 90)
""",
                },
            ),
        ),
    ),
    Situation(
        name="own/parks-threshold-in-configuration",
        kind="coverage",
        action="silent",
        arguments=("--cov=parks",),
        commits=(
            Commit(
                "List benches",
                {
                    **project(
                        "parks", tests=("pytest-cov",), flat=True,
                        workflow=ci(arguments="--cov=parks"),
                    ),
                    "parks/benches.py": """\
def free(benches):
    return [name for name, taken in sorted(benches.items()) if not taken]


def describe(benches):
    if not benches:
        return "no bench"
    left = free(benches)
    if not left:
        return "all benches are taken"
    return "free: " + ", ".join(left)
""",
                    "tests/test_benches.py": """\
import pytest

from parks.benches import free


@pytest.mark.parametrize(
    ("benches", "wanted"),
    [({}, []), ({"a": 0}, ["a"]), ({"a": 1}, []), ({"b": 0, "a": 0}, ["a", "b"]), ({"c": 2}, [])],
)
def test_free(benches, wanted):
    assert free(benches) == wanted
""",
                },
            ),
            Commit(
                "Ask for more coverage",
                project(
                    "parks", tests=("pytest-cov",), flat=True, more="[tool.coverage.report]\nfail_under = 95",
                    workflow=ci(arguments="--cov=parks"),
                ),
            ),
        ),
    ),
    Situation(
        name="own/tram-coverage-in-a-step-of-its-own",
        kind="coverage",
        action="silent",
        commits=(
            Commit(
                "Count stops",
                {
                    **project("tram", about="stops of a tram"),
                    "src/tram/stops.py": """\
def between(stops, first, last):
    one, other = stops.index(first), stops.index(last)
    return abs(other - one)


def reverse(stops):
    return stops[::-1]
""",
                    "tests/test_stops.py": """\
import pytest

from tram.stops import between


@pytest.mark.parametrize(
    ("first", "last", "wanted"), [("a", "b", 1), ("a", "d", 3), ("d", "a", 3), ("b", "b", 0), ("c", "d", 1)]
)
def test_between(first, last, wanted):
    assert between("abcd", first, last) == wanted
""",
                },
            ),
            Commit(
                "Hold coverage at 100 in a step after the tests",
                {
                    ".github/workflows/ci.yml": ci(
                        after="python -m pip install coverage\npython -m coverage run -m pytest\n"
                        "python -m coverage report --fail-under=100"
                    )
                },
            ),
        ),
    ),
    Situation(
        name="own/vat-a-test-fails-beside-coverage",
        kind="coverage",
        action="repair",
        arguments=_cov("vat", 100),
        commits=(
            Commit(
                "Reckon VAT",
                {
                    **project(
                        "vat", tests=("pytest-cov",), flat=True,
                        workflow=ci(arguments=" ".join(_cov("vat", 100))),
                    ),
                    "vat/prices.py": _PRICES,
                    "tests/test_prices.py": """\
import pytest

from vat.prices import net, vat


@pytest.mark.parametrize(("gross", "wanted"), [(119, 19.0), (0, 0.0), (238, 38.0)])
def test_vat(gross, wanted):
    assert vat(gross) == wanted


def test_net():
    assert net(119) == 100


def test_lower_rate():
    assert vat(107, rate=7) == 7.0
""",
                },
            ),
            Commit(
                "Inline the divisor",
                {"vat/prices.py": changed(_PRICES, ("gross * rate / (100 + rate)", "gross * rate / 119"))},
            ),
        ),
        right={"vat/prices.py": _PRICES},
        hidden={
            "tests/test_hidden_prices.py": """\
import pytest

from vat.prices import net, vat


@pytest.mark.parametrize(
    ("gross", "rate", "wanted"), [(110, 10, 10.0), (125, 25, 25.0), (53.5, 7, 3.5), (9, 0, 0.0)]
)
def test_vat(gross, rate, wanted):
    assert vat(gross, rate) == wanted


def test_net():
    assert net(107, 7) == 100
"""
        },
    ),
)  # fmt: skip
