"""What ships: the inputs of each shipped workflow, and settings that a file decides."""

from __future__ import annotations

from benchmarks._harm import Case
from benchmarks._shards import SHOP
from heal_bot.core.outcome import OutcomeRecord
from tests.github_server.test_runner import SHIPPED

BROKEN = '''"""Bands of a value."""


def clamp(value, low, high):
    """The value, but not below low and not above high."""
    if value < low:
        return low
    if value < high:
        return high
    return value
'''
TESTS = """import pytest

from bands import clamp


@pytest.mark.parametrize(
    ("value", "expected"), [(-1, 0), (0, 0), (3, 3), (7, 7), (10, 10), (12, 10), (40, 10)]
)
def test_clamp(value, expected):
    assert clamp(value, 0, 10) == expected


def test_clamp_elsewhere():
    assert clamp(5, 2, 8) == 5
"""
FILES = {"bands.py": BROKEN, "test_bands.py": TESTS}
HIDDEN = """from bands import clamp


def test_it():
    for value in range(-20, 20):
        assert clamp(value, -3, 9) == max(-3, min(value, 9))
"""


def _shop() -> dict[str, str]:
    """The example as it stands."""
    return {
        str(path.relative_to(SHOP)): path.read_text()
        for path in sorted(SHOP.rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    }


def _ended_by_time(outcome: OutcomeRecord) -> str:
    return "" if outcome.cost.seconds < 120 else f"took {outcome.cost.seconds:.0f} s"


def _given(name: str) -> dict[str, str]:
    """What a shipped workflow gives the action."""
    return dict(SHIPPED)[name]


CASES = (
    Case("shipped: the README's snippet", FILES, "healed", hidden=HIDDEN),
    Case("shipped: no input at all", FILES, "healed", report="", hidden=HIDDEN),
    Case("shipped: the example", _shop(), "partly_healed", inputs={"proposers": "rules"}),
    Case(
        "shipped: the smoke test of a release",
        {f"examples/shop/{path}": text for path, text in _shop().items()},
        "partly_healed",
        inputs=_given("smoke.yml:self"),
        below="examples/shop",
    ),
    Case(
        "shipped: a settings file decides",
        {**FILES, ".heal-bot.yml": "paths: [docs]\nmax-minutes: 5\n"},
        "not_healed",
    ),
    Case(
        "shipped: an input beats the settings file",
        {**FILES, ".heal-bot.yml": "paths: [docs]\n"},
        "healed",
        inputs={"paths": "bands.py"},
        hidden=HIDDEN,
    ),
    Case(
        "shipped: a settings file's minutes",
        {**_shop(), ".heal-bot.yml": "max-minutes: 0.05\n"},
        "budget_exhausted",
        inputs={"proposers": "rules"},
        fault=_ended_by_time,
    ),
)
