"""Constants that are gone, written out where code that is put back uses them."""

from __future__ import annotations

import pytest

from heal_bot.source.lost_constants import find_lost, inline_constants

BEFORE = """\
import datetime
import re
from collections import deque
from datetime import timezone as tz

UTC = datetime.timezone.utc
ZERO = datetime.datetime(1970, 1, 1, tzinfo=tz.utc)
LIMIT: int = 2 + 1
WORD = re.compile("x")
SEEN = {}
LAST = deque(maxlen=3)
TWICE = 1
TWICE = 2
KEPT = 4
MARK = object()
"""


def test_only_values_that_never_change_and_are_bound_nowhere_now_are_lost() -> None:
    assert find_lost(BEFORE, "KEPT = 5\n") == {
        "UTC": "datetime.timezone.utc",
        "ZERO": "datetime.datetime(1970, 1, 1, tzinfo=tz.utc)",
        "LIMIT": "2 + 1",
        "WORD": 're.compile("x")',
    }


@pytest.mark.parametrize(
    ("source", "inlined"),
    [
        ("def f(x):\n    return x * LIMIT\n", "def f(x):\n    return x * (2 + 1)\n"),
        ("    def f(self, ü=LIMIT, b=UTC): pass\n", "    def f(self, ü=(2 + 1), b=utc): pass\n"),
        ("def f(LIMIT):\n    return LIMIT\n", "def f(LIMIT):\n    return LIMIT\n"),
        ("def f(x):\n    return x.LIMIT, 'LIMIT'\n", "def f(x):\n    return x.LIMIT, 'LIMIT'\n"),
        ("def f(x):\n    return f'{LIMIT}'\n", "def f(x):\n    return f'{LIMIT}'\n"),
        ("def f(x):\n    return (LIMIT\n", "def f(x):\n    return (LIMIT\n"),
        ("def f(x):\n    '\f'\n    return LIMIT\n", "def f(x):\n    '\f'\n    return (2 + 1)\n"),
    ],
    ids=["arithmetic", "method, two on a line", "bound there", "attribute and text", "f-string",
         "no code", "a form feed"],
)  # fmt: skip
def test_a_constant_is_written_out_where_the_source_reads_it(source: str, inlined: str) -> None:
    assert inline_constants(source, {"LIMIT": "2 + 1", "UTC": "utc"}) == inlined
