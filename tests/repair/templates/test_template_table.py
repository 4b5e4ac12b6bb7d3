from __future__ import annotations

import re
from pathlib import Path

from heal_bot.repair.templates.change_tiers import Tier
from heal_bot.repair.templates.template_costs import load_costs
from heal_bot.repair.templates.template_table import FAMILIES

DOCS = Path(__file__).parents[3] / "docs" / "offline-engine.md"
ROW = re.compile(r"^\| ([a-z][\w -]*) \| .* \| .* \|$", re.M)


def test_the_documentation_lists_every_family() -> None:
    _, _, section = DOCS.read_text(encoding="utf-8").partition("## The families")
    rows = set(ROW.findall(section.partition("\n## ")[0])) - {"family"}
    assert rows == {family.name for family in FAMILIES}


def test_every_family_has_a_fitted_cost_and_no_other_has() -> None:
    assert set(load_costs().families) == {family.name for family in FAMILIES}


def test_a_rarer_change_costs_more_and_an_unknown_family_as_much_as_the_dearest() -> None:
    costs = load_costs()
    told = [costs.compute_cost("comparison", tier) for tier in Tier]
    assert told == sorted(told)
    assert costs.compute_cost("new", Tier.USUAL) == max(costs.families.values())


def test_every_family_has_a_docstring_of_its_own() -> None:
    told = [family.changes.__doc__ for family in FAMILIES]
    assert all(told)
    assert len(set(told)) == len(told)
