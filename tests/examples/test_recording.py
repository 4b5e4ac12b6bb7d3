"""The picture of the demo: each line appears when it was printed, and nothing is loaded."""

from __future__ import annotations

import re
from xml.etree import ElementTree

from examples.recording import draw

LINES = [
    (2.0, "baseline: 74 passed, 9 failed"),
    (60.0, "    +    return total < 3 & ok " + "x" * 90),
]


def test_each_row_appears_at_its_time_and_the_last_after_six_seconds() -> None:
    svg = draw(LINES)
    delays = re.findall(r"animation-delay:([\d.]+)s", svg)
    assert [float(delay) for delay in delays] == sorted(float(delay) for delay in delays)
    assert (delays[0], delays[-1]) == ("0.0", "6.0")
    assert "return&#160;total&#160;&lt;&#160;3&#160;&amp;&#160;ok" in svg


def test_the_picture_is_well_formed_and_loads_nothing() -> None:
    svg = draw(LINES)
    assert ElementTree.fromstring(svg).tag.endswith("svg")
    assert re.findall(r"(?:url\((?!#)|href=|src:|<script)", svg) == []
