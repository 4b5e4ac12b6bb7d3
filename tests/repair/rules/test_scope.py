"""Which names of a function nothing reads but what sets them."""

from __future__ import annotations

import pytest

from heal_bot.model import Target
from heal_bot.repair.rules.evidence import gather
from heal_bot.repair.rules.scope import look
from heal_bot.repair.rules.site import survey
from heal_bot.repair.rules.surroundings import Surroundings


@pytest.mark.parametrize(
    ("body", "idle"),
    [
        ("on = False\n    for x in a:\n        on = not on\n    return x", {"on"}),
        ("n = 0\n    n += a\n    return a", {"n"}),
        ('label = a\n    return f"{label}:"', set()),
        ("global total\n    total = total + a", set()),
        ("for i in range(a):\n        print(a)", set()),
        ("return 1", {"a"}),
    ],
)
def test_a_name_is_idle_when_only_its_own_setting_reads_it(body: str, idle: set[str]) -> None:
    source = f"def f(a):\n    {body}\n"
    target = Target("m.py", "f", 0, "function", 1, source.count("\n"), source)
    assert look(survey(target, source, None), Surroundings(), gather([])).idle == idle
