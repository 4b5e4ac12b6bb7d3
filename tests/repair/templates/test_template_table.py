from __future__ import annotations

import re
from pathlib import Path

from heal_bot.repair.templates.template_table import FAMILIES

DOCS = Path(__file__).parents[3] / "docs" / "offline-engine.md"
ROW = re.compile(r"^\| ([a-z][\w -]*) \| (\d\.\d) \|", re.M)


def test_the_documentation_lists_every_family_with_its_least_cost() -> None:
    rows = {name: float(cost) for name, cost in ROW.findall(DOCS.read_text(encoding="utf-8"))}
    assert rows == {family.name: family.floor for family in FAMILIES}


def test_every_family_has_a_docstring_of_its_own() -> None:
    told = [family.changes.__doc__ for family in FAMILIES]
    assert all(told)
    assert len(set(told)) == len(told)
